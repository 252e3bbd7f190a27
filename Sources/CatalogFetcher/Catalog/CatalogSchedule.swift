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
    /// Places in the order in which books are asked for, by index: those that come later have lower ones.
    private var ranks: [Int] = []
    private var lowestRank = 0
    /// Those that were not looked at yet; the next one is the last.
    private var waiting: [Int] = []
    /// Those that were, when no more could be asked of their servers; in order. Thus each is looked at once, however many wait.
    private var parked: [String: ArraySlice<Int>] = [:]

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
        lowestRank -= more.count
        ranks += lowestRank..<(lowestRank + more.count)
        waiting += (entries.count..<(entries.count + more.count)).reversed()
        entries += more
    }

    /// Takes the next book to ask for; nil when nothing may be asked for now.
    package mutating func startNext() -> Int? {
        guard running < jobs else { return nil }
        let free = parked.filter { mayAsk($0.key) }.compactMap { server, indices in
            indices.first.map { (server, $0) }
        }.min { ranks[$0.1] < ranks[$1.1] }
        while let index = waiting.last, free.map({ ranks[index] < ranks[$0.1] }) ?? true {
            waiting.removeLast()
            let server = entries[index].server
            guard !mayAsk(server) else { return start(index) }
            let indices = parked[server] ?? []
            let place = indices.firstIndex { ranks[$0] > ranks[index] } ?? indices.endIndex
            parked[server, default: []].insert(index, at: place)
        }
        guard let (server, index) = free else { return nil }
        parked[server]?.removeFirst()
        if parked[server]?.isEmpty == true { parked[server] = nil }
        return start(index)
    }

    private func mayAsk(_ server: String) -> Bool {
        let state = servers[server] ?? ServerState()
        return state.running < (state.isDoubted && !state.hasAnswered ? 1 : jobsPerServer)
    }

    private mutating func start(_ index: Int) -> Int {
        running += 1
        servers[entries[index].server, default: ServerState()].running += 1
        return index
    }

    /// Asks for nothing that waits.
    /// - Returns: the indices that are given up.
    package mutating func giveUp() -> [Int] { giveUp { _ in true } }

    private mutating func giveUp(_ isMeant: (Entry) -> Bool) -> [Int] {
        let all = waiting + parked.values.joined()
        waiting.removeAll { isMeant(entries[$0]) }
        for server in parked.keys {
            parked[server]?.removeAll { isMeant(entries[$0]) }
            if parked[server]?.isEmpty == true { parked[server] = nil }
        }
        return all.filter { isMeant(entries[$0]) }.sorted { ranks[$0] < ranks[$1] }
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
        return giveUp { isServerGivenUp && $0.server == entry.server || isSourceGivenUp && $0 == entry }
    }
}
