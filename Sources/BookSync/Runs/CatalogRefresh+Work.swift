import BookModel
import CatalogFetcher

extension CatalogRefresh {
    /// One book of a request.
    struct Entry: Sendable {
        var item: RunRequest.Item
        var server: String
        /// One for all books of a request: what it finds out of the library counts for them as the first begins.
        var assembly: PlanAssembly
        var hasJoined: Bool
    }

    /// What is known of the books while their catalogs are asked.
    struct Work {
        var entries: [Entry] = []
        /// Indices of those that have no plan yet, and have not been given up.
        var open: Set<Int> = []
        /// Those of them that could be planned.
        var ready: [Int: PreparedBook] = [:]
        /// Those of them that have a title, first come first.
        private var openByTitle: [String: [Int]] = [:]
        /// Books that are asked for again, and wait until they have been planned once: two at once would list one book.
        private var parked: [Entry] = []
        var taken = TakenPaths()
        var outcome = Outcome()
        /// Requests that are not done.
        var requests = 0
        /// What was read of late, without the episodes, which the store has.
        private var read: [BookIdentity: (refreshed: RefreshedBook, at: ContinuousClock.Instant)] = [:]

        /// Remembers for whoever asks for the book again.
        mutating func remember(_ prepared: PreparedBook) {
            var refreshed = prepared.refreshed
            refreshed.episodes = nil
            read[prepared.item.book] = (refreshed, .now)
        }

        /// What was read of the book within the last minute.
        func recent(_ book: BookIdentity) -> RefreshedBook? {
            read[book].flatMap { $0.at + .seconds(60) > .now ? $0.refreshed : nil }
        }

        var isFinished: Bool { open.isEmpty && parked.isEmpty }

        /// - Returns: those that may be asked for now, in the order of their indices.
        mutating func add(_ more: [Entry]) -> [Entry] {
            var books = Set(open.map { entries[$0].item.book })
            var added: [Entry] = []
            for entry in more {
                guard books.insert(entry.item.book).inserted else {
                    parked.append(entry)
                    continue
                }
                added.append(entry)
                open.insert(entries.count)
                if let title = entry.item.title { openByTitle[title, default: []].append(entries.count) }
                entries.append(entry)
            }
            return added
        }

        /// - Returns: as ``add(_:)``.
        mutating func addParked() -> [Entry] {
            guard !parked.isEmpty else { return [] }
            let waiting = parked
            parked = []
            return add(waiting)
        }

        mutating func close(_ index: Int) {
            open.remove(index)
            ready[index] = nil
            guard let title = entries[index].item.title else { return }
            openByTitle[title]?.removeAll { $0 == index }
        }

        /// Takes out everything that has no plan yet.
        /// - Returns: how many books that are.
        mutating func leaveAll() -> Int {
            defer { (open, ready, openByTitle, parked) = ([], [:], [:], []) }
            return open.count + parked.count
        }

        /// Takes the first book that can be planned now.
        mutating func takeReady() -> (index: Int, book: PreparedBook)? {
            let index = ready.keys.filter { index in
                entries[index].item.title.map { openByTitle[$0]?.first == index } ?? true
            }.min()
            guard let index, let book = ready[index] else { return nil }
            close(index)
            return (index, book)
        }
    }
}

/// A book whose catalog was read, and the plan for it as far as that can be made beside others.
struct PreparedBook: Sendable {
    var item: RunRequest.Item
    var refreshed: RefreshedBook
    var source: any CatalogSource
    var plan: AssembledPlan?
}
