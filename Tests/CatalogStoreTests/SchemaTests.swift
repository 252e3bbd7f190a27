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

    @Test func `a new store has the tables of the schema, and knows itself by its application id`() async throws {
        try await withStore { store async throws in
            let database = try DatabaseQueue()
            try await database.write { try $0.execute(sql: StoreSchema.sql) }
            let definitions = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid"
            let expected = try await database.read { try String.fetchAll($0, sql: definitions) }
            let made = try withDatabase(of: store) { database in
                #expect(try StoreSchema.age(of: database) == .current)
                return try String.fetchAll(database, sql: definitions)
            }
            #expect(made == expected)
        }
    }

    @Test func `a store with a value in every column gives all of them`() async throws {
        try await withStorePath { path in
            try await CatalogStore(path: path, access: .readWrite).close()
            let script = try String(contentsOf: fixtures.appending(path: "rows.sql"), encoding: .utf8)
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
            file.isNamedByUser = true
            file.fetchedFrom = "http://kting.info:81/asdb/fiction/1.mp3"
            file.original = LocalFile.Original(
                size: 980, sha256: String(repeating: "ef", count: 32),
                streamSHA256: String(repeating: "12", count: 32))
            #expect(try await store.episode(.sample(1))?.file == file)
            var retagged = file
            retagged.sha256 = String(repeating: "34", count: 32)
            let announced = try await store.operationsUnderWay()
            #expect(announced.map(\.file) == [retagged] && announced.map(\.kind) == [.publish])
            let joined = JoinedFile(
                path: "萧十一狼/回到古代当兽医.m4b", book: veterinary, size: 123_456,
                modificationTime: 1_700_000_000_123_456_789, madeOf: String(repeating: "34", count: 32))
            #expect(try await store.joinedFiles(of: veterinary) == [joined])
            let filter = CollectionFilter(language: "zh", minHours: 2.5, maxBooks: 100)
            #expect(try await store.subscriptions().first?.collection == filter)
            let collection = BookIdentity(source: "internet-archive", id: "collection:librivoxaudio")
            let followed = try await store.booksToFetch(of: collection, after: 0, limit: nil, count: 10).map(\.book)
            #expect(followed == [veterinary])
            #expect(try await store.episode(.sample(1))?.episode == .sample(1))
            var transfer = TransferRecord.sample(2)
            transfer.missingSince = time(milliseconds: 1_700_000_000_000)
            transfer.missingUntil = time(milliseconds: 1_700_000_100_000)
            #expect(try await store.episode(.sample(2))?.transfer == transfer)
            let book = try await store.book(veterinary)
            #expect(book?.candidateNames == "兽医 / 甲" && book?.candidateListings == 2)
            #expect(try await store.episode(.sample(3))?.removedAt == time(milliseconds: 1_700_000_000_777))
            #expect(try await store.episode(.sample(3))?.removedBy == .keepRule)
            let subscription = try #require(try await store.subscriptions().first)
            #expect(subscription.filter.latest == 20)
            #expect(subscription.filter.since?.description == "30d")
            #expect(subscription.order == .last)
            #expect(
                subscription.limits
                    == RunLimits(episodes: 5, bytes: 2_000_000_000))
            #expect(subscription.naming == "{title}/{section}")
            #expect(try await store.namingTemplate(of: veterinary) == subscription.naming)
            #expect(subscription.keep?.description == "keep: last 20, unheard, max-size: 5.0 GB")
            #expect(try await store.runs(last: 1).first?.summary.expired == 0)
            #expect(subscription.tags.map(\.description) == ["睡前/长篇"])
            let media = MediaInfo(
                container: "mp3", codec: "mp3", bitRate: 64000, duration: 1234.5, tags: ["title": "第1集"],
                chapters: [.init(start: 0, end: 612.25, title: "开头")])
            #expect(try await store.media(of: .sample(1)) == media)
            let verifiedAt = time(milliseconds: 1_700_000_300_000)
            #expect(try await store.lastVerified(.sample(1)) == verifiedAt)
            let renamed = try #require(try await store.doneOperations().first)
            #expect(renamed.file.path == "萧十一狼/兽医/1.mp3" && renamed.to == file.path && renamed.current == file)
            #expect(try await store.trashedFiles().map(\.file.path) == ["萧十一狼/0003.mp3"])
            #expect(try await store.runs(last: 9).map(\.exitCode) == [nil, 75])
            #expect(try await store.outages().map(\.runs) == [2])
            let wordings = try await [store.outages().first?.error, store.runs(last: 9).last?.error].map { $0?.wording }
            #expect(
                wordings == [
                    "page 1 of {1} cannot be fetched",
                    "{1} cannot be fetched: the connection was cut, {2} times in a row",
                ])
            #expect(try await store.publicationWatches().map(\.usualGap) == [86400])
            let position = ListeningPosition(
                episode: .sample(1), seconds: 612.25, duration: 1234.5,
                updatedAt: time(milliseconds: 1_700_000_600_000))
            #expect(try await store.positions(of: veterinary) == [.sample(1): position])
            let users = try await store.storedUsers()
            #expect(users.map(\.name) == ["小林"])
            #expect(try await store.bookmarks(of: veterinary, for: 1).map(\.note) == ["这里很好笑"])
            #expect(try await store.speed(of: veterinary, for: 1) == 1.25)
            let named = try await store.runs(last: 9).flatMap(\.named).map(\.book)
            #expect(named == [veterinary])
            let tag = try await store.listingValidator(of: veterinary)?.pages.first?.validator.entityTag
            #expect(tag == "\"feed-1\"")
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
        "UPDATE local_file SET verification = 'hearsay'", "UPDATE local_file SET is_named_by_user = 2",
        "UPDATE transfer SET state = 'finished'", "UPDATE transfer SET state = 'resting'",
        "UPDATE transfer SET committed_length = total + 1", "UPDATE transfer SET committed_length = -1",
        "UPDATE verified_file SET sha256 = 'abc'", "UPDATE verified_file SET round = 99",
        "INSERT INTO verified_file (episode_id, round, verified_at, sha256) SELECT 99, round, 0, sha256 FROM verified_file",
        "INSERT INTO verification (scope, started_at) VALUES ('', 0)",
        "UPDATE operation SET path = '/etc/passwd'", "UPDATE operation SET to_path = ''",
        "UPDATE operation SET state = 'done'", "UPDATE operation SET kind = 'delete'",
        "INSERT INTO operation SELECT 99, batch, kind, state, done_at, to_path, 2, path, size, sha256, mtime, inode, etag, last_modified, validator_age, catalog_size, catalog_modified_at, fetched_at, verification, is_named_by_user, fetched_from, original_size, original_sha256, stream_sha256 FROM operation",
        "UPDATE cached_plan SET plan = '[]'", "UPDATE run SET summary = '[]'", "UPDATE transfer SET error = '{}'",
        "UPDATE subscription SET since = ''", "UPDATE subscription SET transfer_order = 'sideways'",
        "UPDATE subscription SET max_episodes = 0", "UPDATE subscription SET max_bytes = 0",
        "UPDATE subscription SET latest = 0", "UPDATE subscription SET naming = ''",
        "DELETE FROM book", "DELETE FROM episode",
        "UPDATE subscription_tag SET path = ''", "INSERT INTO subscription_tag SELECT * FROM subscription_tag",
        "INSERT INTO subscription_tag VALUES ('nowhere', '1', 'a')",
        "UPDATE run SET ended_at = 1", "UPDATE run SET exit_code = 0", "UPDATE run SET command = ''",
        "INSERT INTO outage VALUES ('', 0, 1, '[\"x\"]', 0)", "INSERT INTO outage VALUES ('x', 0, 0, '[\"x\"]', 0)",
        "INSERT INTO outage VALUES ('x', 0, 1, '{}', 0)",
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
        "INSERT INTO user (name) VALUES ('')", "UPDATE user SET name = 'a'", "INSERT INTO user (id) VALUES (5)",
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
            _ = try await store.begin(.rename, [(.sample(1), to: "elsewhere")], batch: time(milliseconds: 0))
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
                return try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM episode")
            }
            #expect(left == 0)
        }
    }
}
