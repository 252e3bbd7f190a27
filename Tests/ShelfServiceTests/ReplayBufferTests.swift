import Testing

@testable import ShelfService

@Suite struct ReplayBufferTests {
    private func event(_ subject: String, _ text: String, isProgress: Bool = false) -> LiveEvent {
        LiveEvent(subject: subject, isProgress: isProgress, text: "\"\(text)\"")
    }

    @Test func `a client is told what came after the message that it had`() {
        var buffer = ReplayBuffer(epoch: "e")
        #expect(buffer.lastID == "e.0")
        #expect(buffer.wire(after: 0) == nil)
        buffer.append([])
        #expect(buffer.last == 0)
        buffer.append([event("a", "1"), event("b", "2")])
        #expect(buffer.wire(after: 0) == "id: e.1\nevent: changes\ndata: [\"1\",\"2\"]\n\n")
        buffer.append([event("a", "3")])
        #expect(buffer.wire(after: 1) == "id: e.2\nevent: changes\ndata: [\"3\"]\n\n")
        #expect(buffer.wire(after: 0) == "id: e.2\nevent: changes\ndata: [\"1\",\"2\",\"3\"]\n\n")
        #expect(buffer.wire(after: 2) == nil)
    }

    @Test func `of what it missed it is told how far things are, and not how they came there`() {
        let events = [
            event("a", "a1", isProgress: true), event("b", "b1", isProgress: true), event("a", "a2", isProgress: true),
            event("c", "c1"), event("b", "b2"), event("c", "c2", isProgress: true), event("c", "c3"),
        ]
        #expect(ReplayBuffer.coalesced(events).map(\.text) == ["\"a2\"", "\"c1\"", "\"b2\"", "\"c3\""])
    }

    @Test(arguments: [
        ("e.1", 1), ("e.0", 0), ("e.2", nil), ("f.1", nil), ("e.-1", nil), ("e", nil), ("", nil), ("e.1.1", nil),
    ])
    func `a number means something only in its own epoch`(id: String, number: Int?) {
        var buffer = ReplayBuffer(epoch: "e")
        buffer.append([event("a", "1")])
        #expect(buffer.number(ofID: id) == number)
    }

    @Test func `who missed more than is kept asks anew`() {
        var buffer = ReplayBuffer(epoch: "e")
        for number in 0...ReplayBuffer.maxCount { buffer.append([event("a", "\(number)", isProgress: true)]) }
        #expect(buffer.wire(after: 0) == "id: \(buffer.lastID)\nevent: reset\ndata: {}\n\n")
        #expect(buffer.wire(after: 1)?.contains("event: changes\ndata: [\"\(ReplayBuffer.maxCount)\"]\n") == true)
    }

    @Test func `more events than anybody reads are told as one`() {
        var buffer = ReplayBuffer(epoch: "e")
        buffer.append((0...ReplayBuffer.maxEvents).map { event("\($0)", "x") })
        #expect(buffer.wire(after: 0)?.contains("event: reset") == true)
        buffer.append([event("a", "1")])
        #expect(buffer.wire(after: 1)?.contains("data: [\"1\"]") == true)
        #expect(buffer.wire(after: 0)?.contains("event: reset") == true)
    }
}
