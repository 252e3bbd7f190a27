/// The last messages, so that a client that was away or reads slowly is told what it missed, at once and in short. Pure.
///
/// Messages are numbered; a number means something only together with the epoch of the buffer that gave it.
struct ReplayBuffer: Sendable {
    private struct Message: Sendable {
        var events: [LiveEvent]
        /// As it goes over the wire, made once for all clients.
        var wire: String
    }

    /// So many messages are kept, and so many events of one: more are not told but asked for anew.
    static let maxCount = 256
    static let maxEvents = 2000

    let epoch: String
    /// The number of the last message; 0 before the first one.
    private(set) var last = 0
    private var messages: [Message] = []

    init(epoch: String) {
        self.epoch = epoch
    }

    var lastID: String { id(last) }

    /// Adds a message; none for no events. So many events that each of them would be more than the whole are not kept: then
    /// everybody has to ask anew.
    mutating func append(_ events: [LiveEvent]) {
        guard !events.isEmpty else { return }
        last += 1
        guard events.count <= Self.maxEvents else {
            messages = []
            return
        }
        messages.append(Message(events: events, wire: Self.wire(events, id: id(last))))
        if messages.count > Self.maxCount { messages.removeFirst() }
    }

    /// The number of a message that this buffer gave; nil for those of others.
    func number(ofID id: String) -> Int? {
        let parts = id.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == epoch, let number = Int(parts[1]), (0...last).contains(number) else {
            return nil
        }
        return number
    }

    /// All that came after a message, as one message.
    /// - Returns: nil when nothing did.
    func wire(after number: Int) -> String? {
        let missed = last - number
        guard missed > 0 else { return nil }
        guard missed <= messages.count else { return Self.reset(id: lastID) }
        if missed == 1 { return messages[messages.count - 1].wire }
        let events = Self.coalesced(messages.suffix(missed).flatMap(\.events))
        return events.count <= Self.maxEvents ? Self.wire(events, id: lastID) : Self.reset(id: lastID)
    }

    /// Without what later ones say better.
    static func coalesced(_ events: [LiveEvent]) -> [LiveEvent] {
        var later: Set<String> = []
        var kept: [LiveEvent] = []
        for event in events.reversed() {
            let isSuperseded = !later.insert(event.subject).inserted
            if !(event.isProgress && isSuperseded) { kept.append(event) }
        }
        return kept.reversed()
    }

    private func id(_ number: Int) -> String { "\(epoch).\(number)" }

    /// An event of the stream (HTML Standard, "Server-sent events").
    static func wire(_ events: [LiveEvent], id: String) -> String {
        "id: \(id)\nevent: changes\ndata: [\(events.map(\.text).joined(separator: ","))]\n\n"
    }

    static func reset(id: String) -> String {
        "id: \(id)\nevent: reset\ndata: {}\n\n"
    }
}
