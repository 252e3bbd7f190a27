import BookModel
import Foundation
import GRDB
import Support
import Synchronization
import Testing

@testable import CatalogStore

/// No query of a run, a page or an event reads more rows than it returns.
@Suite(.limitedConcurrency) struct QueryPlanTests {
    /// A step that reads a table or an index from end to end, or that sorts, with the reason why its statement may do so.
    private struct Exception {
        /// A part of the statement.
        let statement: String
        /// The beginnings of its steps.
        let steps: [String]
        let reason: String

        init(_ statement: String, _ steps: [String], _ reason: String) {
            (self.statement, self.steps, self.reason) = (statement, steps, reason)
        }
    }

    private static let sort = "USE TEMP B-TREE"

    private static let exceptions = [
        // Lists and sums that are of everything by their nature.
        Exception("LEFT JOIN shelf_count c", ["SCAN b"], "the whole shelf"),
        Exception("TOTAL(bytes) AS INTEGER) FROM shelf_count", ["SCAN book", "SCAN shelf_count"], "sums of the shelf"),
        Exception("NOT EXISTS (SELECT 1 FROM shelf_count", ["SCAN b"], "the books that the sums lack"),
        Exception("FROM request WHERE", ["SCAN request"], "all that was asked for and is not done"),
        Exception("INDEXED BY episode_in_order", ["SCAN e"], "where more than 100 books are to be counted"),
        Exception("SELECT DISTINCT e.book_id", ["SCAN e"], "the shelf by a state of its episodes, for `list`"),
        Exception(
            "WITH listed AS", ["SCAN e", "SCAN b", "SCAN same", sort],
            "all episodes are compared once with those of a new address"),
        Exception("FROM subscription", ["SCAN subscription"], "the subscriptions"),
        Exception("FROM subscription_tag ORDER", ["SCAN subscription_tag"], "those of all subscriptions"),
        Exception("SELECT source, key FROM collection", ["SCAN collection"], "the collections"),
        Exception(
            "FROM transfer t CROSS JOIN episode e", ["SCAN t", sort], "the queue, which is in an order of its own"),
        Exception(
            "COUNT(*) FROM transfer", ["SCAN transfer", "SCAN operation", "SCAN request"],
            "counted without a look at the rows"),
        Exception("UPDATE transfer SET etag = NULL", ["SCAN transfer"], "all of an older store"),
        Exception(
            "ORDER BY id DESC LIMIT 1)", ["SCAN operation", sort],
            "ends with the last one that is done; sorted is what one command did"),
        Exception("FROM operation o", ["SCAN o"], "the trash, and what is under way, by indexes of their own"),
        Exception("FROM local_file UNION", ["SCAN local_file", "SCAN joined_file"], "all paths"),
        Exception("e.book_id <> ? UNION ALL", ["SCAN f"], "the paths in the library's own folder"),
        Exception("FROM publication_watch w", ["SCAN w"], "the books that are waited for"),
        Exception("FROM outage", ["SCAN outage"], "the outages"),
        Exception("FROM replacement r", ["SCAN r", sort], "the replacements of the last days: most books have none"),
        Exception("FROM user WHERE id <> 0", ["SCAN user"], "the users, when a book moves"),
        // What an index holds is just what is meant, or it is read until there is enough.
        Exception("FROM transfer WHERE state <> 'waiting'", ["SCAN transfer"], "the index is of those alone"),
        Exception("SELECT id FROM book ORDER BY", ["SCAN book"], "the first ones in the order of an index"),
        Exception("FROM run ORDER BY id DESC LIMIT", ["SCAN run"], "the last ones"),
        Exception(
            "SELECT EXISTS (SELECT 1 FROM book) OR", ["SCAN book", "SCAN subscription"], "ends with the first one"),
        Exception(
            "name_index_state", ["SCAN name_index_state", "SCAN unindexed_name"], "has one row, and what is new"),
        Exception("FROM unindexed_name u CROSS JOIN", ["SCAN u", sort], "what is new"),
        Exception("c.key LIKE 'author:%'", ["SCAN c", sort], "the collections, and the books of some"),
        // Of one book, of which all is counted, or sorted by what no index has.
        Exception("COUNT(*) FROM episode e LEFT JOIN", [sort], "its episodes by their states"),
        Exception("FROM episode o JOIN episode e", [sort], "those of one number"),
        Exception("ORDER BY e.gone, e.position LIMIT 1", [sort], "those of one number"),
        Exception("ORDER BY e.published_at DESC LIMIT", [sort], "when its listing was read"),
        Exception("GROUP BY f.folder", [sort], "where its files are in several folders"),
        Exception("HAVING MIN(p.finished) = 1", [sort], "what was heard of it"),
        Exception("SELECT id, source, key FROM (", [sort], "the books of a collection"),
        Exception("SELECT title FROM (", [sort], "the books of a collection"),
        // Few come of many.
        Exception("f.original_size IS NULL", [sort], "the books of the files of one run"),
        Exception("t.state <> 'waiting' AND t.state = 'downloading'", [sort], "the books of what is downloaded now"),
    ]

    @Test func `every statement of the store finds its rows by an index`() async throws {
        try await withStorePath { path in
            // One connection, which sees all statements.
            let store = try await CatalogStore(path: path, access: .exclusive)
            let queue = try #require(store.reader as? DatabaseQueue)
            let traced = TracedStatements()
            try await queue.writeWithoutTransaction { database in
                database.trace { if case .statement(let statement) = $0 { traced.record(statement.sql) } }
            }
            try await useEverything(of: store, beside: path)
            try await queue.writeWithoutTransaction { $0.trace(options: []) }
            let statements = traced.all
            for literal in try Self.literals() {
                #expect(
                    statements.contains { Self.holds($0, literal) }, "was not run: \(literal.joined(separator: "…"))")
            }
            // Without statistics, as the program's stores are, SQLite takes each table for a large one.
            let steps = try await Self.steps(of: statements, in: queue)
            var used: Set<Int> = []
            for step in steps.sorted() {
                let exception = Self.exceptions.firstIndex { exception in
                    step.statement.contains(exception.statement)
                        && exception.steps.contains { "\(step.text) ".hasPrefix("\($0) ") }
                }
                if let exception { used.insert(exception) } else { Issue.record("\(step.text) ← \(step.statement)") }
            }
            for index in Self.exceptions.indices where !used.contains(index) {
                Issue.record("no longer an exception: \(Self.exceptions[index].statement)")
            }
            try await store.close()
        }
    }

    @Test func `what a row refers to is found by an index from the other side`() async throws {
        try await withStore { store in
            let scans = try await store.read("") { database in
                let keys = try Row.fetchAll(
                    database,
                    sql: """
                        SELECT m.name AS child, group_concat(f."from" || ' = ?', ' AND ') AS columns
                        FROM sqlite_master m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table'
                        GROUP BY m.name, f.id
                        """)
                return try keys.flatMap { key in
                    try Self.plan(
                        of: "SELECT 1 FROM \"\(key["child"] as String)\" WHERE \(key["columns"] as String)", database)
                }.filter { $0.hasPrefix("SCAN") }
            }
            #expect(scans == [])
        }
    }

    private struct Step: Hashable, Comparable {
        let text: String
        let statement: String

        static func < (one: Step, other: Step) -> Bool { (one.statement, one.text) < (other.statement, other.text) }
    }

    private static func steps(of statements: Set<String>, in queue: DatabaseQueue) async throws -> Set<Step> {
        try await queue.read { database in
            var steps: Set<Step> = []
            for statement in statements {
                for text in try plan(of: statement, database) where isSuspect(text, of: statement) {
                    steps.insert(Step(text: text, statement: statement))
                }
            }
            return steps
        }
    }

    private static func plan(of statement: String, _ database: Database) throws -> [String] {
        let explanation = try database.makeStatement(sql: "EXPLAIN QUERY PLAN \(statement)")
        explanation.setUncheckedArguments([])
        return try Row.fetchAll(explanation).map { $0["detail"] }
    }

    /// A full scan of what is not made by the statement itself, or a sort of more than it returns.
    private static func isSuspect(_ step: String, of statement: String) -> Bool {
        if step.hasPrefix(sort) { return !step.contains("ORDER BY") || statement.contains(" LIMIT ") }
        return step.hasPrefix("SCAN") && !step.contains("VIRTUAL TABLE INDEX")
            && !["CONSTANT ROW", "queue", "known", "json_each", "(subquery"].contains { step.hasPrefix("SCAN \($0)") }
    }

    // MARK: The statements of the sources

    /// The texts of the sources that are statements, each as its parts between what is interpolated.
    private static func literals() throws -> [[String]] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/CatalogStore")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        let sources = files?.compactMap { $0 as? URL }.filter { file in
            file.pathExtension == "swift"
                && ![
                    "StoreSchema", "OpenedDatabase", "StoreExamination", "StoreHeader", "ForeignDatabase",
                ]
                .contains(where: file.lastPathComponent.hasPrefix)
        }
        var literals: [[String]] = []
        for file in sources ?? [] {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /"""\n(?<long>(?s:.*?))"""|"(?<short>(?:\\.|[^"\\\n])*)"/) {
                let parts = parts(of: String(match.output.long ?? match.output.short ?? ""))
                if parts.first?.prefixMatch(of: /(?:SELECT|INSERT|UPDATE|DELETE|WITH)\s/) != nil {
                    literals.append(parts)
                }
            }
        }
        return literals
    }

    private static func parts(of literal: String) -> [String] {
        var parts = [""]
        var rest = literal[...]
        while let start = rest.range(of: "\\(") {
            parts[parts.count - 1] += rest[..<start.lowerBound]
            var depth = 1
            rest = rest[start.upperBound...].drop { character in
                depth += character == "(" ? 1 : character == ")" ? -1 : 0
                return depth > 0
            }.dropFirst()
            parts.append("")
        }
        parts[parts.count - 1] += rest
        return parts.map { plain($0.replacing(#"\""#, with: "\"")) }
    }

    private static func plain(_ text: String) -> String {
        text.replacing(/--[^\n]*/, with: "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static func holds(_ statement: String, _ parts: [String]) -> Bool {
        var rest = statement[...]
        for part in parts where !part.isEmpty {
            guard let range = rest.range(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }

    private final class TracedStatements: Sendable {
        private let statements = Mutex<Set<String>>([])

        var all: Set<String> { statements.withLock { $0 } }

        /// Those of triggers come as comments; those of a full-text index are SQLite's own.
        func record(_ statement: String) {
            guard statement.prefixMatch(of: /\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\s/) != nil,
                !["'main'.", "sqlite_master", "grdb_migrations"].contains(where: statement.contains)
            else { return }
            _ = statements.withLock { $0.insert(plain(statement)) }
        }
    }

    // MARK: What they are run on

    private func useEverything(of store: CatalogStore, beside path: String) async throws {
        let now = time(milliseconds: 1_700_000_000_000)
        let other = BookIdentity(source: "feeds", id: "https://a.example/feed.xml")
        try await list(veterinary, in: store, at: now)
        _ = try await store.merge(samples(1...2, of: other), startingAt: 0, of: other)
        try await useTransfers(of: store)
        try await useFiles(of: store, at: now)
        try await useTrash(of: store, at: now)
        try await useShelf(of: store, named: other)
        try await useListening(of: store, at: now)
        try await useSubscriptions(of: store, at: now)
        try await useRuns(of: store, at: now)
        try await store.copy(to: path + ".copy")
        try await store.record(generation: 1)
        try await store.forgetPartialContent()
        let rows = try #require(try await store.rows(of: veterinary))
        try await store.release(veterinary)
        try await store.adopt(rows, of: veterinary, files: [:])
        // More books than are counted one by one.
        for number in 1...101 {
            let book = BookIdentity(source: "more", id: "\(number)")
            _ = try await store.merge(samples(1...1, of: book), startingAt: 0, of: book)
        }
        _ = try await store.books()
    }

    private func list(_ book: BookIdentity, in store: CatalogStore, at now: Date) async throws {
        _ = try await store.merge(samples(1...12), startingAt: 0, of: book)
        _ = try await store.merge([.bare(11)] + samples(1...3), startingAt: 4, of: book)
        let keys = Set((1...11).map { EpisodeIdentity.sample($0).key })
        _ = try await store.dropped(from: book, seen: keys)
        _ = try await store.finishListing(
            of: Book(identity: book, title: "回到古代当兽医", author: "甲"), proof: complete(12), seen: keys)
        _ = try await store.listingValidator(of: book)
        _ = try await store.hasMaskedAddresses(of: book)
        _ = try await store.knownEpisodes(of: book)
        _ = try await store.twin(of: samples(1...3))
        try await store.forgetListingValidator(of: book)
        let collection = BookIdentity(source: "kting", id: "author:甲")
        _ = try await store.beginListing(of: collection, filter: "", naming: nil)
        try await store.restartListing(of: collection)
        _ = try await store.record(
            [CatalogEntry(identity: book, title: "一")], wanted: [true], next: nil, of: collection)
        _ = try await store.endListing(of: collection, limit: 5, declared: 1)
        _ = try await store.booksToFetch(of: collection, after: 0, limit: nil, count: 10)
        try await store.noteFetched([book])
        _ = try await store.newlyListedBooks(among: [book], since: now)
        _ = try await store.unshelvedBooks(count: 3)
        _ = try await store.namingTemplate(of: book)
        try await store.forgetCollections(except: [])
    }

    private func useTransfers(of store: CatalogStore) async throws {
        try await store.save((1...6).map { .sample($0, state: .waiting) })
        try await store.save([.sample(1, committed: 1)])
        try store.commit(publishing: [.sample(2)])
        try store.commit(waiting: [.sample(3)])
        try store.commit(begun: [.sample(3)])
        try await store.resetInterruptedTransfers()
        _ = try await store.episode(.sample(1))?.transfer
        _ = try await store.pause([.sample(4)])
        try await store.recordPlanned([.sample(4)])
        _ = try await store.resume([.sample(4)])
        _ = try await store.cancel([.sample(5)])
        try await store.ask([
            StoredRequest(.mirror),
            StoredRequest(.fetch, veterinary, filter: EpisodeFilter(only: SectionRanges(parsing: "1-3"))),
            StoredRequest(.join, veterinary),
        ])
        _ = try await store.changeRequests { request in
            var request = request
            if request.kind == .fetch { request.filter.only = try? SectionRanges(parsing: "2") }
            return request
        }
        try await store.end(try await store.requests().map(\.id))
        _ = try await store.stoppedTransfers()
        _ = try await store.unfinishedTransfers()
        _ = try await store.queue(isRunUnderWay: true, from: 0, count: 10)
        _ = try await store.queueCounts(isRunUnderWay: false)
        _ = try await store.movingBooks()
        _ = try await store.activitySnapshot(recordedAfter: 0)
        _ = try await store.episodes(inRows: [1])
        try await store.finish([.sample(1), .sample(2, path: "甲/2.mp3"), .sample(3)])
    }

    private func useFiles(of store: CatalogStore, at now: Date) async throws {
        let file = LocalFile.sample(1)
        _ = try await store.filePaths()
        _ = try await store.pathsOfOthers(than: veterinary, in: ["", "萧十一狼"])
        try await store.updateFiles([file])
        _ = try await store.replaceRecord(of: file, with: file)
        try await store.complete([try await store.begin(publishing: file)])
        _ = try await store.booksWithoutTags(fetchedSince: now)
        try await store.record(.success(MediaInfo(container: "mp3", codec: "mp3")), of: file)
        _ = try await store.media(of: file.episode)
        _ = try await store.filesWithoutMedia([file])
        _ = try await store.unreadFiles()
        let joined = JoinedFile(path: "a.m4b", book: veterinary, size: 1, modificationTime: 1, madeOf: "")
        try await store.recordJoinedFiles([joined], of: veterinary)
        _ = try await store.joinedFiles(of: veterinary)
        let exported = ExportedFile(
            path: "a.opf", book: veterinary, kind: "opf", sha256: String(repeating: "a", count: 64))
        try await store.recordExport(exported)
        _ = try await store.exportedFile(at: exported.path)
        _ = try await store.exportedFiles(of: veterinary, kind: "opf")
        try await store.forgetExport(at: exported.path)
        let round = try await store.beginVerification(of: "", anew: false, at: now)
        _ = try await store.beginVerification(of: "", anew: true, at: now)
        try await store.recordVerified([file], in: round, at: now)
        _ = try await store.verifiedFiles(since: round)
        _ = try await store.lastVerified(file.episode)
        try await store.endVerification(round, at: now)
        // As many as make the store forget the first one.
        for turn in -51...0 {
            let renames = try await store.begin(
                .rename, [(file.episode, to: "乙/\(turn).mp3")], batch: now.addingTimeInterval(Double(turn)))
            _ = try await store.operationsUnderWay()
            try await store.complete(renames, at: now)
        }
        try await store.complete(try await store.beginReversing(try await store.doneOperations()))
        await #expect(throws: Failure.self) {
            _ = try await store.begin(.rename, [(file.episode, to: "丁.mp3"), (.sample(2), to: "丁.mp3")], batch: now)
        }
        try await store.drop(try await store.begin(.rename, [(file.episode, to: "乙.mp3")], batch: now))
        for change in [CatalogStore.NumberChange.record, .restore, .forget] {
            try await store.setNumbers(of: [file.episode.book], change)
        }
        _ = try await store.oftenReplaced(in: file.episode.book)
        try await store.forget(try await store.doneOperations(of: now))
    }

    private func useTrash(of store: CatalogStore, at now: Date) async throws {
        try await store.remove([.sample(3)], at: now)
        let removed = try await store.removedWithFiles().map(\.episode.identity)
        #expect(removed == [.sample(3)])
        let trashed = try await store.begin(.trash, [(.sample(3), to: ".booksync/trash/丙.mp3")], batch: now)
        try await store.complete(trashed, at: now)
        try await store.complete(try await store.beginReversing(try await store.trashedFiles()))
        _ = try await store.trashedFiles(of: veterinary)
        try await store.forgetRemovals(of: [.sample(3)])
        try await store.forgetRemovals(at: now)
        try store.commit(replacing: .sample(2), at: "甲/2.mp3", to: ".booksync/trash/2.mp3", batch: now)
        try await store.finish([.sample(2, path: "甲/2.mp3")])
    }

    private func useShelf(of store: CatalogStore, named other: BookIdentity) async throws {
        try await store.watchPlan(of: other)
        try await store.saveCachedPlan(CachedPlan(fingerprint: "a", folders: [], totals: PlanTotals()), of: other)
        _ = try await store.cachedPlan(of: other)
        _ = try await store.books()
        _ = try await store.books([veterinary])
        _ = try await store.booksWithMissingEpisodes()
        try await store.updateShelfCounts()
        _ = try await store.books(first: 10)
        _ = try await store.books(first: 10, isNewestFirst: true)
        _ = try await store.shelfSum()
        _ = try await store.books(by: "甲")
        _ = try await store.books(withEpisodesIn: .waiting, isRunUnderWay: false)
        let book = try #require(try await store.book(veterinary))
        #expect(try await store.book(slug: "feeds/\(Slug(of: other.id))") == other)
        _ = try await store.holdsBooks()
        _ = try await store.known(among: [other])
        _ = try await store.namesakesWithFiles(of: book)
        _ = try await store.episode(section: 1, of: veterinary)
        _ = try await store.episode(named: "~", of: veterinary)
        _ = try await store.episodes(of: veterinary)
        let selection = EpisodeSelection(state: .waiting, text: "集", isReversed: true)
        _ = try await store.episodes(of: veterinary, selection, isRunUnderWay: true, from: 0, count: 5)
        _ = try await store.stateCounts(of: veterinary, isRunUnderWay: false)
        _ = try await store.stateCounts(of: veterinary, named: "集", isRunUnderWay: false)
        for isReversed in [true, false] {
            _ = try await store.index(of: 3, in: veterinary, isReversed: isReversed)
        }
        _ = try await store.neighbours(of: .sample(2))
        _ = try await store.firstOnDisk(of: veterinary)
        for _ in 1...2 {
            _ = try await store.search("兽医", limit: 5)
            _ = try await store.search("甲 第2集", limit: 5)
            _ = try await store.unindexedNames()
            try await store.updateSearchIndex()
        }
    }

    private func useListening(of store: CatalogStore, at now: Date) async throws {
        try await store.addUser(named: "a", inherits: true)
        let user = try #require(try await store.userID(named: "a"))
        _ = try await store.storedUsers()
        try await store.setPosition(ListeningPosition(episode: .sample(1), seconds: 9, updatedAt: now), of: user)
        _ = try await store.position(in: .sample(1), of: user)
        _ = try await store.positions(of: veterinary, for: user)
        _ = try await store.latestPositions(limit: 9, of: user)
        _ = try await store.heardEpisodes(of: veterinary)
        for part in [MarkedPart.whole, .episode(.sample(1)), .upTo(.sample(2))] {
            for isPlayed in [true, false] {
                _ = try await store.mark(part, of: veterinary, asPlayed: isPlayed, for: user, at: now)
            }
        }
        _ = try await store.mark(.whole, of: veterinary, asPlayed: true, for: user, at: now)
        _ = try await store.listeningProgress(of: [veterinary], for: user)
        try await store.setSpeed(1.5, of: veterinary, for: user)
        _ = try await store.speed(of: veterinary, for: user)
        try await store.dismiss(veterinary, for: user, at: now)
        let bookmark = Bookmark(id: 0, episode: .sample(1), seconds: 1, note: "", createdAt: now)
        let number = try #require(try await store.add(bookmark, for: user))
        _ = try await store.bookmarks(of: veterinary, for: user)
        _ = try await store.removeBookmark(number, of: user)
        try await store.removeUser(named: "a")
    }

    private func useSubscriptions(of store: CatalogStore, at now: Date) async throws {
        let tags = [SubscriptionTag(path: ["a"])].compactMap(\.self)
        let subscription = Subscription(book: veterinary, subscribedAt: now, tags: tags)
        _ = try await store.follow([subscription])
        _ = try await store.subscribe(subscription)
        _ = try await store.subscriptions()
        _ = try await store.subscriptionCount(without: [veterinary])
        _ = try await store.subscriptions(without: [veterinary], from: 0, count: 9)
        _ = try await store.namingTemplate(of: veterinary)
        _ = try await store.unsubscribe(veterinary)
    }

    private func useRuns(of store: CatalogStore, at now: Date) async throws {
        let number = try await store.beginRun("mirror", of: [veterinary], at: now)
        try await store.endRun(
            RunRecord(
                number: number, command: "mirror", startedAt: now, endedAt: now, exitCode: 0, named: [.init(veterinary)]
            ))
        _ = try await store.runs(last: 9)
        _ = try await store.lastRun(before: now)
        try await store.record([Outage(subject: "library", since: now, error: "x")], ended: ["x"])
        _ = try await store.outages()
        _ = try await store.publicationDates(of: veterinary, last: 9)
        try await store.record([
            PublicationWatch(book: veterinary, title: "", latest: now, usualGap: 1, isReported: false)
        ])
        _ = try await store.publicationWatches()
        try await store.forgetFile(of: .sample(2))
    }
}
