/// Which catalog is asked next: several servers at once, of one server a few books at a time. Knows no clock and starts
/// nothing.
///
/// A server that does not answer is not waited for book by book: after some books that it was asked for in vain, its
/// others are given up with them. So are those of a source there whose credentials are rejected.
///
/// | the server, or the source at it, | books asked for in vain in a row until the rest is given up | asked for at once |
/// | --- | --- | --- |
/// | did not answer in the last run | 1 | 1 |
/// | has not answered yet | 3 | as many as are allowed |
/// | has answered in this run | 8 | as many as are allowed |
package struct CatalogSchedule {
    /// One book's catalog.
    package struct Entry: Hashable {
        package var server: String
        package var source: String

        package init(server: String, source: String) {
            self.server = server
            self.source = source
        }
    }

    /// What came of asking for a book.
    package enum Outcome {
        case listed
        /// The server answered, and has nothing for us.
        case refused
        case rejected
        case unreachable
        /// What failed is not the catalog's.
        case elsewhere
    }

    private struct ServerState {
        var running = 0
        var inVain = 0
        var hasAnswered = false
        var isDoubted = false

        var isGivenUp: Bool { inVain >= (hasAnswered ? 8 : isDoubted ? 1 : 3) }

        mutating func answered() {
            inVain = 0
            hasAnswered = true
        }
    }

    private var entries: [Entry] = []
    private let jobs: Int
    private let jobsPerServer: Int
    private var running = 0
    private var servers: [String: ServerState] = [:]
    /// By source and server: what one server thinks of credentials says nothing of another.
    private var sources: [Entry: ServerState] = [:]
    /// In order.
    private var waiting: [Int] = []

    /// - Parameters:
    ///   - jobs: books asked for at once in all.
    ///   - doubted: servers that did not answer in the last run.
    package init(jobs: Int, jobsPerServer: Int, doubted: Set<String> = []) {
        self.jobs = jobs
        self.jobsPerServer = jobsPerServer
        for server in doubted { servers[server, default: ServerState()].isDoubted = true }
    }

    /// Has more books wait, before those that wait already. Their indices go on from those of the last call.
    package mutating func add(_ more: [Entry]) {
        waiting.insert(contentsOf: entries.count..<(entries.count + more.count), at: 0)
        entries += more
    }

    /// Takes the next book to ask for; nil when nothing may be asked for now.
    package mutating func startNext() -> Int? {
        guard running < jobs else { return nil }
        let next = waiting.firstIndex { index in
            let server = servers[entries[index].server] ?? ServerState()
            let limit = server.isDoubted && !server.hasAnswered ? 1 : jobsPerServer
            return server.running < limit
        }
        guard let next else { return nil }
        let index = waiting.remove(at: next)
        running += 1
        servers[entries[index].server, default: ServerState()].running += 1
        return index
    }

    /// Asks for nothing that waits.
    /// - Returns: the indices that are given up.
    package mutating func giveUp() -> [Int] {
        defer { waiting = [] }
        return waiting
    }

    /// Records what came of a book that was taken.
    /// - Returns: the indices that are given up with it.
    package mutating func end(_ index: Int, _ outcome: Outcome) -> [Int] {
        let entry = entries[index]
        running -= 1
        servers[entry.server, default: ServerState()].running -= 1
        switch outcome {
        case .listed:
            servers[entry.server]?.answered()
            sources[entry, default: ServerState()].answered()
        case .refused:
            servers[entry.server]?.answered()
        case .rejected:
            servers[entry.server]?.answered()
            sources[entry, default: ServerState()].inVain += 1
        case .unreachable:
            servers[entry.server]?.inVain += 1
        case .elsewhere:
            break
        }
        let isServerGivenUp = servers[entry.server]?.isGivenUp == true
        let isSourceGivenUp = sources[entry]?.isGivenUp == true
        guard isServerGivenUp || isSourceGivenUp else { return [] }
        let givenUp = waiting.filter { index in
            isServerGivenUp && entries[index].server == entry.server
                || isSourceGivenUp && entries[index] == entry
        }
        let indices = Set(givenUp)
        waiting.removeAll { indices.contains($0) }
        return givenUp
    }
}
