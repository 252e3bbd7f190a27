import BookModel
import Foundation
import GRDB
import Support
import Testing

@testable import CatalogStore

@Suite(.limitedConcurrency) struct SchemaTests {
    /// Runs SQL beside the store, as a defect above the schema would.
    private func withDatabase<Value: Sendable>(
        of store: CatalogStore, _ body: @Sendable (Database) throws -> Value
    ) throws -> Value {
        let database = try DatabaseQueue(path: store.path)
        let value = try database.write(body)
        try database.close()
        return value
    }

    private static let versions = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]

    @Test func `every schema has its golden files`() {
        #expect(StoreSchema.migrator.migrations == Self.versions.map { "v\($0)" })
    }

    @Test func `the digest of triggers and views is that of the newest schema`() async throws {
        let database = try DatabaseQueue()
        try StoreSchema.migrator.migrate(database)
        let actors = try await database.read(StoreSchema.actors)
        #expect(StoreSchema.digest(of: actors) == StoreSchema.currentActors)
    }

    @Test(arguments: versions)
    func `the schema is the one that was shipped`(version: Int) async throws {
        let golden = try String(contentsOf: fixtures.appending(path: "schema-v\(version).sql"), encoding: .utf8)
        let database = try DatabaseQueue()
        try StoreSchema.migrator.migrate(database, upTo: "v\(version)")
        let schema = try await database.read { database in
            try String.fetchAll(
                database,
                sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'grdb%' ORDER BY rowid")
        }
        #expect(schema.map { $0 + ";\n" }.joined() == golden, "a migration that was shipped is never edited")
    }

    @Test(arguments: versions)
    func `a store of an earlier schema opens, with all it holds`(version: Int) async throws {
        try await withStorePath { path in
            let script = try String(contentsOf: fixtures.appending(path: "v\(version).sql"), encoding: .utf8)
            let database = try DatabaseQueue(path: path)
            try await database.writeWithoutTransaction { try $0.execute(sql: script) }
            try database.close()
            let store = try await CatalogStore(path: path, access: .readWrite)
            let shelf = try #require(try await store.books().first)
            #expect(shelf.book.title == "回到古代当兽医")
            #expect(shelf.episodes == 4)
            #expect(shelf.present == 1)
            #expect(shelf.locked == 1)
            var file = LocalFile.sample(1)
            file.isNamedByUser = version > 1
            file.fetchedFrom = version > 2 ? "http://kting.info:81/asdb/fiction/1.mp3" : nil
            if version > 10 {
                file.original = LocalFile.Original(
                    size: 980, sha256: String(repeating: "ef", count: 32),
                    streamSHA256: String(repeating: "12", count: 32))
            }
            #expect(try await store.episode(.sample(1))?.file == file)
            var retagged = file
            retagged.sha256 = String(repeating: "34", count: 32)
            #expect(try await store.announcedRetaggings() == (version > 10 ? [retagged] : []))
            let joined = JoinedFile(
                path: "萧十一狼/回到古代当兽医.m4b", book: veterinary, size: 123_456,
                modificationTime: 1_700_000_000_123_456_789, madeOf: String(repeating: "34", count: 32))
            #expect(try await store.joinedFiles(of: veterinary) == (version > 10 ? [joined] : []))
            let filter = CollectionFilter(language: "zh", minHours: 2.5, maxBooks: 100)
            #expect(try await store.subscriptions().first?.collection == (version > 11 ? filter : CollectionFilter()))
            let collection = BookIdentity(source: "internet-archive", id: "collection:librivoxaudio")
            let followed = try await store.booksToFetch(of: collection, after: 0, limit: nil, count: 10).map(\.book)
            #expect(followed == (version > 11 ? [veterinary] : []))
            #expect(try await store.episode(.sample(1))?.episode == .sample(1))
            var transfer = TransferRecord.sample(2)
            if version < 10 { transfer.error = Message(verbatim: "the connection was cut") }
            #expect(try await store.transferRecord(of: .sample(2)) == transfer)
            #expect(try await store.episode(.sample(3))?.removedAt == time(milliseconds: 1_700_000_000_777))
            #expect(try await store.episode(.sample(3))?.removedBy == (version > 9 ? .keepRule : .user))
            let subscription = try #require(try await store.subscriptions().first)
            #expect(subscription.filter.latest == 20)
            #expect(subscription.filter.since?.description == (version > 3 ? "30d" : nil))
            #expect(subscription.order == (version > 3 ? .last : nil))
            #expect(
                subscription.limits
                    == (version > 3 ? RunLimits(episodes: 5, bytes: 2_000_000_000) : RunLimits()))
            #expect(subscription.naming == (version > 8 ? "{title}/{section}" : nil))
            #expect(try await store.namingTemplate(of: veterinary) == subscription.naming)
            #expect(subscription.keep?.description == (version > 8 ? "keep: last 20, unheard, max-size: 5.0 GB" : nil))
            #expect(try await store.runs(last: 1).first?.summary.expired == (version > 3 ? 0 : nil))
            #expect(subscription.tags.map(\.description) == (version > 3 ? ["睡前/长篇"] : []))
            let media = MediaInfo(
                container: "mp3", codec: "mp3", bitRate: 64000, duration: 1234.5, tags: ["title": "第1集"],
                chapters: [.init(start: 0, end: 612.25, title: "开头")])
            #expect(try await store.media(of: .sample(1)) == (version > 9 ? media : nil))
            let verifiedAt = time(milliseconds: 1_700_000_300_000)
            #expect(try await store.lastVerified(.sample(1)) == (version > 2 ? verifiedAt : nil))
            let renamed = try await store.lastRenames()?.renames.map(\.from)
            #expect(renamed == (version > 2 ? ["萧十一狼/兽医/1.mp3"] : nil))
            #expect(try await store.runs(last: 9).map(\.exitCode) == (version > 3 ? [nil, 75] : []))
            #expect(try await store.outages().map(\.runs) == (version > 3 ? [2] : []))
            let wordings = try await [store.outages().first?.error, store.runs(last: 9).last?.error].map { $0?.wording }
            // Of what older versions kept only the English is known.
            #expect(
                wordings
                    == (version > 9
                        ? [
                            "page 1 of {1} cannot be fetched",
                            "{1} cannot be fetched: the connection was cut, {2} times in a row",
                        ]
                        : version > 3 ? ["{1}", "{1}"] : [nil, nil]))
            #expect(try await store.publicationWatches().map(\.usualGap) == (version > 3 ? [86400] : []))
            let position = ListeningPosition(
                episode: .sample(1), seconds: 612.25, duration: 1234.5,
                updatedAt: time(milliseconds: 1_700_000_600_000))
            #expect(try await store.positions(of: veterinary) == (version > 4 ? [.sample(1): position] : [:]))
            let users = try await store.storedUsers()
            #expect(users.map(\.name) == (version > 7 ? ["小林"] : []))
            #expect(users.first?.books == (version > 7 ? [veterinary] : nil))
            #expect(try await store.bookmarks(of: veterinary, for: 1).map(\.note) == (version > 7 ? ["这里很好笑"] : []))
            #expect(try await store.speed(of: veterinary, for: 1) == (version > 7 ? 1.25 : nil))
            let named = try await store.runs(last: 9).flatMap(\.named).map(\.book)
            #expect(named == (version > 7 ? [veterinary] : []))
            let counts = try await store.merge(samples(1...3), startingAt: 0, of: veterinary)
            #expect(counts == MergeCounts(unchanged: 3))
            for isIndexed in [false, true] {
                #expect(try await store.search("第3集", limit: nil).hits.count == 1, "\(isIndexed)")
                #expect(try await store.search("兽医", limit: nil).hits.count == 4, "\(isIndexed)")
                try await store.updateSearchIndex()
            }
            try await store.close()
        }
    }

    static let impossible = [
        "INSERT INTO book (source, key, updated_at) VALUES ('kting', '30776', 0)",
        "INSERT INTO episode (book_id, key, section, position, name, locked) VALUES (99, 'x', 1, 0, 'x', 1)",
        "INSERT INTO episode (book_id, key, section, position, name, locked) VALUES (1, 'id1', 1, 0, 'x', 1)",
        "UPDATE episode SET locked = 1", "UPDATE episode SET address = NULL", "UPDATE episode SET gone = 2",
        "UPDATE episode SET section = 'one'", "UPDATE episode SET section = NULL", "UPDATE episode SET name = NULL",
        "UPDATE episode SET digest = NULL", "UPDATE episode SET digest_algorithm = 'crc32'",
        "UPDATE local_file SET sha256 = 'abc'", "UPDATE local_file SET sha256 = upper(sha256)",
        "UPDATE local_file SET path = '/etc/passwd'", "UPDATE local_file SET path = ''",
        "UPDATE local_file SET path = 'the same'", "UPDATE local_file SET size = -1",
        "UPDATE local_file SET verification = 'hearsay'", "UPDATE local_file SET named_by_listener = 2",
        "UPDATE local_file SET pending_path = 'the same'",
        "UPDATE transfer SET state = 'finished'", "UPDATE transfer SET state = 'resting'",
        "UPDATE transfer SET committed_length = total + 1", "UPDATE transfer SET committed_length = -1",
        "UPDATE transfer SET state = 'verifying', sha256 = NULL",
        "UPDATE transfer SET state = 'verifying', path = NULL",
        "UPDATE verified_file SET sha256 = 'abc'", "UPDATE verified_file SET round = 99",
        "INSERT INTO verified_file (episode_id, round, verified_at, sha256) SELECT 99, round, 0, sha256 FROM verified_file",
        "INSERT INTO verification (scope, started_at) VALUES ('', 0)",
        "UPDATE renaming SET from_path = '/etc/passwd'", "UPDATE renaming SET to_path = ''",
        "UPDATE renaming SET batch = 0",
        "UPDATE settled_plan SET kept = -1", "UPDATE settled_plan SET locked = skipped + 1",
        "UPDATE settled_plan SET folders = '{}'", "UPDATE settled_plan SET fingerprint = ''",
        "UPDATE subscription SET since = ''", "UPDATE subscription SET transfer_order = 'sideways'",
        "UPDATE subscription SET max_episodes = 0", "UPDATE subscription SET max_bytes = 0",
        "UPDATE subscription SET latest = 0", "UPDATE subscription SET naming = ''",
        "DELETE FROM book", "DELETE FROM episode",
        "UPDATE subscription_tag SET path = ''", "INSERT INTO subscription_tag SELECT * FROM subscription_tag",
        "INSERT INTO subscription_tag VALUES ('nowhere', '1', 'a')",
        "UPDATE run SET ended_at = 1", "UPDATE run SET exit_code = 0", "UPDATE run SET command = ''",
        "INSERT INTO outage VALUES ('', 0, 1, 'x', 0, NULL)", "INSERT INTO outage VALUES ('x', 0, 0, 'x', 0, NULL)",
        "INSERT INTO publication_watch VALUES (99, 0, 1, 0)", "INSERT INTO publication_watch VALUES (1, 0, 0, 0)",
        "INSERT INTO exported_file VALUES ('a.opf', 99, 'opf', '\(String(repeating: "a", count: 64))', NULL, NULL)",
        "INSERT INTO exported_file VALUES ('a.opf', 1, 'opf', 'abc', NULL, NULL)",
        "INSERT INTO exported_file VALUES ('/a.opf', 1, 'opf', '\(String(repeating: "a", count: 64))', NULL, NULL)",
        "INSERT INTO listening_position VALUES (0, 99, 0, NULL, 0, 0, NULL)",
        "INSERT INTO listening_position VALUES (9, 1, 0, NULL, 0, 0, NULL)",
        "INSERT INTO listening_position VALUES (0, 1, -1, NULL, 0, 0, NULL)",
        "INSERT INTO listening_position VALUES (0, 1, 9e999, NULL, 0, 0, NULL)",
        "INSERT INTO listening_position VALUES (0, 1, 0, 0, 0, 0, NULL)",
        "INSERT INTO listening_position VALUES (0, 1, 0, NULL, 2, 0, NULL)",
        "INSERT INTO listening_position VALUES (0, 1, 0, NULL, 0, 0, '')",
        "INSERT INTO user (name) VALUES ('a')", "INSERT INTO user (name, password_hash) VALUES ('', 'x')",
        "UPDATE user SET name = 'a'", "UPDATE user SET password_hash = 'x'", "INSERT INTO user (id) VALUES (5)",
        "INSERT INTO user_book VALUES (9, 'kting', '1')",
        "INSERT INTO bookmark (user_id, episode_id, seconds, note, created_at) VALUES (0, 99, 0, '', 0)",
        "INSERT INTO bookmark (user_id, episode_id, seconds, note, created_at) VALUES (9, 1, 0, '', 0)",
        "INSERT INTO bookmark (user_id, episode_id, seconds, note, created_at) VALUES (0, 1, -1, '', 0)",
        "INSERT INTO book_listening VALUES (0, 1, 0, NULL)", "INSERT INTO book_listening VALUES (0, 99, 1, NULL)",
        "INSERT INTO run_book VALUES (99, 0, 'kting', '1')",
    ]

    @Test(arguments: impossible)
    func `what cannot be true is refused by the schema`(sql: String) async throws {
        try await withStore { store async throws in
            _ = try await store.merge(samples(1...2), startingAt: 0, of: veterinary)
            try await store.finish([.sample(1), .sample(2)])
            try await store.save([.sample(1)])
            let tags = [SubscriptionTag(path: ["a"])].compactMap(\.self)
            _ = try await store.subscribe(
                Subscription(book: veterinary, filter: EpisodeFilter(latest: 1), tags: tags))
            let round = try await store.beginVerification(of: "", anew: false, at: time(milliseconds: 0))
            try await store.recordVerified([.sample(1)], in: round, at: time(milliseconds: 0))
            try await store.intendRenames([(.sample(1), to: "elsewhere")])
            _ = try await store.beginRun("mirror", of: [veterinary], at: time(milliseconds: 0))
            let idle = BookIdentity(source: "kting", id: "idle")
            _ = try await store.merge(samples(1...1, of: idle), startingAt: 0, of: idle)
            try await store.watchPlan(of: idle)
            let error = #expect(throws: DatabaseError.self) {
                try withDatabase(of: store) { try $0.execute(sql: sql) }
            }
            #expect(error?.resultCode == .SQLITE_CONSTRAINT)
        }
    }

    @Test func `a book without files goes with its episodes`() async throws {
        try await withStore { store async throws in
            _ = try await store.merge(samples(1...2), startingAt: 0, of: veterinary)
            let left = try withDatabase(of: store) { database in
                try database.execute(sql: "DELETE FROM book")
                return try Int.fetchOne(
                    database, sql: "SELECT (SELECT COUNT(*) FROM episode) + (SELECT COUNT(*) FROM episode_element)")
            }
            #expect(left == 0)
        }
    }
}
