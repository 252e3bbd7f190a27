import Synchronization
import Testing

@testable import ShelfService

/// What clients are sent, by a clock that stands still until it is moved.
@Suite struct BroadcasterTests {
    /// What a client was sent.
    private final class Inbox: Sendable {
        private let wires = Mutex<[String?]>([])

        var all: [String?] { wires.withLock { $0 } }

        func take(_ wire: String?) { wires.withLock { $0.append(wire) } }
    }

    private let start = ContinuousClock.now
    private let event = LiveEvent(subject: "a", isProgress: false, text: "1")
    private let other = LiveEvent(subject: "b", isProgress: false, text: "2")

    private func data(_ wire: String??) -> String? {
        (wire ?? nil)?.firstMatch(of: /data: (.*)/).map { String($0.output.1) }
    }

    @Test func `a new client is told what is under way, and then what is new`() {
        var broadcaster = Broadcaster()
        broadcaster.publish([event], whole: [], at: start)
        let (client, first) = broadcaster.join(lastEventID: nil, at: start)
        #expect(first.hasPrefix("retry: 2000\nid: ") && first.hasSuffix(".1\n\n"))
        let inbox = Inbox()
        #expect(broadcaster.kept(for: client, at: start) == nil)
        broadcaster.wait(client, inbox.take)
        broadcaster.publish([event], whole: [other], at: start)
        #expect(inbox.all.count == 1 && data(inbox.all.last) == "[2]")
        broadcaster.wait(client, inbox.take)
        broadcaster.publish([], whole: [other], at: start)
        #expect(inbox.all.count == 1)
        broadcaster.publish([event], whole: [other], at: start)
        #expect(inbox.all.count == 2 && data(inbox.all.last) == "[1]")
    }

    @Test func `one that reads slowly is told of several looks at once`() {
        var broadcaster = Broadcaster()
        let (client, _) = broadcaster.join(lastEventID: nil, at: start)
        let inbox = Inbox()
        broadcaster.wait(client, inbox.take)
        broadcaster.publish([], whole: [], at: start)
        broadcaster.publish([event], whole: [], at: start)
        broadcaster.publish([other], whole: [], at: start)
        #expect(data(broadcaster.kept(for: client, at: start)) == "[1,2]")
        #expect(broadcaster.kept(for: client, at: start) == nil)
    }

    @Test func `one that comes back is told what it missed`() throws {
        var broadcaster = Broadcaster()
        let (client, first) = broadcaster.join(lastEventID: nil, at: start)
        let id = try #require(first.firstMatch(of: /id: (.*)/)).output.1
        broadcaster.leave(client)
        broadcaster.publish([event], whole: [], at: start)
        let (again, _) = broadcaster.join(lastEventID: String(id), at: start)
        #expect(data(broadcaster.kept(for: again, at: start)) == "[1]")
    }

    @Test func `who hears nothing for fifteen seconds is sent a heartbeat, and not before`() {
        var broadcaster = Broadcaster()
        let (client, _) = broadcaster.join(lastEventID: nil, at: start)
        let inbox = Inbox()
        broadcaster.wait(client, inbox.take)
        broadcaster.publish([], whole: [], at: start)
        broadcaster.wait(client, inbox.take)
        broadcaster.publish([], whole: [], at: start + .milliseconds(14_999))
        #expect(inbox.all.count == 1)
        broadcaster.publish([], whole: [], at: start + .seconds(15))
        #expect(inbox.all.last == Broadcaster.heartbeat)
        broadcaster.wait(client, inbox.take)
        broadcaster.publish([], whole: [], at: start + .seconds(29))
        #expect(inbox.all.count == 2)
    }

    @Test func `after a reset those who knew something ask anew, and the numbers of before mean nothing`() throws {
        var broadcaster = Broadcaster()
        let (known, first) = broadcaster.join(lastEventID: nil, at: start)
        let id = String(try #require(first.firstMatch(of: /id: (.*)/)).output.1)
        let (knowing, new) = (Inbox(), Inbox())
        broadcaster.wait(known, knowing.take)
        broadcaster.publish([], whole: [], at: start)
        let (fresh, _) = broadcaster.join(lastEventID: nil, at: start)
        broadcaster.reset()
        let (late, _) = broadcaster.join(lastEventID: id, at: start)
        let lateInbox = Inbox()
        broadcaster.wait(known, knowing.take)
        broadcaster.wait(fresh, new.take)
        broadcaster.wait(late, lateInbox.take)
        broadcaster.publish([event], whole: [other], at: start)
        #expect(try #require(knowing.all.last ?? nil).contains("event: reset"))
        #expect(try #require(lateInbox.all.last ?? nil).contains("event: reset"))
        #expect(data(new.all.last) == "[2]")
    }

    @Test func `the oldest makes room for the hundred and twenty-ninth, and who left is sent nothing`() {
        var broadcaster = Broadcaster()
        let oldest = Inbox()
        let (first, _) = broadcaster.join(lastEventID: nil, at: start)
        broadcaster.wait(first, oldest.take)
        for _ in 0..<128 { _ = broadcaster.join(lastEventID: nil, at: start) }
        #expect(oldest.all == [nil])
        broadcaster.wait(first, oldest.take)
        #expect(oldest.all == [nil, nil])
        broadcaster.leaveAll()
        #expect(broadcaster.isEmpty)
    }
}
