import HeapModule

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

    /// Of two books the one that is asked for first.
    private struct Place: Comparable {
        var rank: Int
        var index: Int

        static func < (one: Place, other: Place) -> Bool { one.rank < other.rank }
    }

    private struct ServerState {
        /// The indices of its books that wait; the next one is the last.
        var waiting: [Int] = []
        var running = 0
        var inVain = 0
        var hasAnswered = false
        /// Runs in a row, up to the last one, that it did not answer in.
        var runsInVain = 0

        var isDoubted: Bool { runsInVain > 0 && !hasAnswered }
        var isGivenUp: Bool { inVain >= (hasAnswered ? 8 : isDoubted ? 1 : 3) }

        /// Has more books wait, before those that wait already. Of one that is doubted, each run begins with another: what failed
        /// may be the book's.
        mutating func add(_ books: [Int]) {
            let first = isDoubted ? (runsInVain - 1) % books.count : 0
            waiting += (books[first...] + books[..<first]).reversed()
        }

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
    /// Of a server's books those with less are asked for first: a book that could not be had might close the server for them.
    private var doubts: [Int] = []
    /// Places in the order in which books are asked for, by index: those that come later have lower ones.
    private var ranks: [Int] = []
    private var lowestRank = 0
    /// The next book of each server that may be asked for one, and what was the next one before, which is passed over: nothing
    /// is looked for, however many servers there are.
    private var heads = Heap<Place>()

    /// - Parameters:
    ///   - jobs: books asked for at once in all.
    ///   - runsInVain: how many runs in a row servers did not answer in, up to the last one.
    package init(jobs: Int, jobsPerServer: Int, runsInVain: [String: Int] = [:]) {
        self.jobs = jobs
        self.jobsPerServer = jobsPerServer
        servers = runsInVain.mapValues { ServerState(runsInVain: $0) }
    }

    /// Has more books wait, before those that wait already. Their indices go on from those of the last call.
    /// - Parameter doubts: in how many runs in a row each could not be had.
    package mutating func add(_ more: [Entry], doubts moreDoubts: [Int]) {
        lowestRank -= more.count
        ranks += lowestRank..<(lowestRank + more.count)
        entries += more
        doubts += moreDoubts
        let indices = (entries.count - more.count)..<entries.count
        for (server, indices) in Dictionary(grouping: indices, by: { entries[$0].server }) {
            let books = indices.sorted { (doubts[$0], $0) < (doubts[$1], $1) }
            servers[server, default: ServerState()].add(books)
            offer(server)
        }
    }

    /// Has the next book of a server be among those that may be asked for.
    private mutating func offer(_ server: String) {
        guard let index = servers[server]?.waiting.last else { return }
        heads.insert(Place(rank: ranks[index], index: index))
    }

    /// Takes the next book to ask for; nil when nothing may be asked for now.
    package mutating func startNext() -> Int? {
        guard running < jobs else { return nil }
        while let next = heads.popMin() {
            let server = entries[next.index].server
            // It is offered again when one of the server's books has ended.
            guard let state = servers[server], state.waiting.last == next.index,
                state.running < (state.isDoubted ? 1 : jobsPerServer)
            else { continue }
            servers[server]?.waiting.removeLast()
            running += 1
            servers[server]?.running += 1
            offer(server)
            return next.index
        }
        return nil
    }

    /// Asks for nothing that waits.
    /// - Returns: the indices that are given up.
    package mutating func giveUp() -> [Int] { giveUp(of: Array(servers.keys)) { _ in true } }

    private mutating func giveUp(of names: [String], _ isMeant: (Entry) -> Bool) -> [Int] {
        var all: [Int] = []
        for server in names {
            let waiting = servers[server]?.waiting ?? []
            all += waiting.filter { isMeant(entries[$0]) }
            servers[server]?.waiting = waiting.filter { !isMeant(entries[$0]) }
            offer(server)
        }
        return all.sorted { ranks[$0] < ranks[$1] }
    }

    /// Records what came of a book that was taken.
    /// - Returns: the indices that are given up with it.
    package mutating func end(_ index: Int, _ outcome: Outcome) -> [Int] {
        let entry = entries[index]
        running -= 1
        servers[entry.server, default: ServerState()].running -= 1
        offer(entry.server)
        if [.listed, .refused, .rejected].contains(outcome) { servers[entry.server]?.answered() }
        switch outcome {
        case .listed: sources[entry, default: ServerState()].answered()
        case .rejected: sources[entry, default: ServerState()].inVain += 1
        case .unreachable: servers[entry.server]?.inVain += 1
        case .refused, .elsewhere: break
        }
        let isServerGivenUp = servers[entry.server]?.isGivenUp == true
        let isSourceGivenUp = sources[entry]?.isGivenUp == true
        guard isServerGivenUp || isSourceGivenUp else { return [] }
        return giveUp(of: [entry.server]) { isServerGivenUp || $0.source == entry.source }
    }
}
