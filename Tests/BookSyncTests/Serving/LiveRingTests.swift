import Testing

@testable import BookSync

@Suite struct LiveRingTests {
    private func event(_ subject: String, _ text: String, isProgress: Bool = false) -> LiveEvent {
        LiveEvent(subject: subject, isProgress: isProgress, text: "\"\(text)\"")
    }

    @Test func `a client is told what came after the message that it had`() {
        var ring = LiveRing(epoch: "e")
        #expect(ring.lastID == "e.0")
        #expect(ring.wire(after: 0) == nil)
        ring.append([])
        #expect(ring.last == 0)
        ring.append([event("a", "1"), event("b", "2")])
        #expect(ring.wire(after: 0) == "id: e.1\nevent: changes\ndata: [\"1\",\"2\"]\n\n")
        ring.append([event("a", "3")])
        #expect(ring.wire(after: 1) == "id: e.2\nevent: changes\ndata: [\"3\"]\n\n")
        #expect(ring.wire(after: 0) == "id: e.2\nevent: changes\ndata: [\"1\",\"2\",\"3\"]\n\n")
        #expect(ring.wire(after: 2) == nil)
    }

    @Test func `of what it missed it is told how far things are, and not how they came there`() {
        let events = [
            event("a", "a1", isProgress: true), event("b", "b1", isProgress: true), event("a", "a2", isProgress: true),
            event("c", "c1"), event("b", "b2"), event("c", "c2", isProgress: true), event("c", "c3"),
        ]
        #expect(LiveRing.coalesced(events).map(\.text) == ["\"a2\"", "\"c1\"", "\"b2\"", "\"c3\""])
    }

    @Test(arguments: [
        ("e.1", 1), ("e.0", 0), ("e.2", nil), ("f.1", nil), ("e.-1", nil), ("e", nil), ("", nil), ("e.1.1", nil),
    ])
    func `a number means something only in its own epoch`(id: String, number: Int?) {
        var ring = LiveRing(epoch: "e")
        ring.append([event("a", "1")])
        #expect(ring.number(ofID: id) == number)
    }

    @Test func `who missed more than is kept asks anew`() {
        var ring = LiveRing(epoch: "e")
        for number in 0...LiveRing.greatestCount { ring.append([event("a", "\(number)", isProgress: true)]) }
        #expect(ring.wire(after: 0) == "id: \(ring.lastID)\nevent: reset\ndata: {}\n\n")
        #expect(ring.wire(after: 1)?.contains("event: changes\ndata: [\"\(LiveRing.greatestCount)\"]\n") == true)
    }

    @Test func `more events than anybody reads are told as one`() {
        var ring = LiveRing(epoch: "e")
        ring.append((0...LiveRing.greatestEvents).map { event("\($0)", "x") })
        #expect(ring.wire(after: 0)?.contains("event: reset") == true)
        ring.append([event("a", "1")])
        #expect(ring.wire(after: 1)?.contains("data: [\"1\"]") == true)
        #expect(ring.wire(after: 0)?.contains("event: reset") == true)
    }
}
