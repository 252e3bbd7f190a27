import BookModel
import Foundation
import GRDB
import Support
import Testing

@testable import CatalogStore

@Suite(.limitedConcurrency) struct OpeningTests {
    @Test func `what was written is there after reopening`() async throws {
        try await withStorePath { path async throws in
            for round in 1...3 {
                let store = try await CatalogStore(path: path, access: .readWrite)
                let counts = try await store.merge([.sample(round)], startingAt: round, of: veterinary)
                #expect(counts == MergeCounts(added: 1))
                #expect(try await store.episodes(of: veterinary).count == round)
                try await store.close()
            }
        }
    }

    @Test func `a closed store is one file`() async throws {
        try await withStorePath { path async throws in
            let folder = URL(filePath: path).deletingLastPathComponent().path
            // Whoever read last may close last.
            for round in 1...Tier.choose(quick: 5, full: 25, long: 25) {
                let store = try await CatalogStore(path: path, access: .readWrite)
                _ = try await store.merge([.sample(round)], startingAt: round, of: veterinary)
                async let books = store.books().count
                async let episodes = store.episodes(of: veterinary).count
                #expect(try await (books, episodes) == (1, round))
                try await store.close()
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["store.sqlite"])
            }
        }
    }

    @Test func `SQLite's code says what is wrong, and its text about another call does not`() {
        let errors: [(DatabaseError, String)] = [
            (DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "not an error"), "unable to open database file"),
            (DatabaseError(resultCode: .SQLITE_CORRUPT, message: "x"), "database disk image is malformed"),
        ]
        for (error, expected) in errors { #expect(sentence(of: error).description == expected) }
    }

    @Test func `what a power cut left of the first transaction is undone, and is no damage`() async throws {
        try await withStorePath { path async throws in
            // The first page is torn, and the journal says that before it there was none.
            try Data(count: 4096).write(to: URL(filePath: path))
            let journal: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
            let header = journal + [0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 16, 0]
            try Data(header + [UInt8](repeating: 0, count: 512 - header.count)).write(
                to: URL(filePath: path + "-journal"))
            #expect(try await StoreHeader(of: path).fault == nil)
            let failure = await #expect(throws: Failure.self) { try await CatalogStore(path: path, access: .readOnly) }
            #expect(failure?.reason == .storeUnmade)
            let store = try await CatalogStore(path: path, access: .readWrite)
            _ = try await store.merge([.sample(1)], startingAt: 0, of: veterinary)
            try await store.close()
            #expect(try await StoreHeader(of: path).fault == nil)
        }
    }

    @Test func `beside a journal, too, a store to which others added triggers is refused`() async throws {
        try await withStore { store async throws in
            try await withStorePath { path async throws in
                try await store.copy(to: path)
                try await DatabaseQueue(path: path).writeWithoutTransaction { database in
                    try database.execute(sql: "CREATE TRIGGER x AFTER INSERT ON book BEGIN DELETE FROM book; END")
                }
                try Data([1]).write(to: URL(filePath: path + "-journal"))
                await #expect(throws: Failure.self) { try await CatalogStore(path: path, access: .readWrite) }
            }
        }
    }

    @Test func `a transaction that a power cut broke off is undone, for readers in a copy`() async throws {
        try await withStore { store async throws in
            _ = try await store.merge(samples(1...3), startingAt: 0, of: veterinary)
            try await withStorePath { path async throws in
                let (whole, files) = (path + ".whole", FileManager.default)
                try await store.copy(to: whole)
                try await DatabaseQueue(path: whole).writeWithoutTransaction { database in
                    try database.execute(
                        sql: """
                            PRAGMA cache_size = 1; BEGIN; CREATE TABLE x (a);
                            INSERT INTO x VALUES (randomblob(40000)), (randomblob(40000))
                            """)
                    for suffix in ["", "-journal"] { try files.copyItem(atPath: whole + suffix, toPath: path + suffix) }
                    try database.execute(sql: "ROLLBACK")
                }
                let torn = try FileHandle(forUpdating: URL(filePath: path))
                try torn.write(contentsOf: Data(count: 512))
                try torn.close()
                for access in [CatalogStore.Access.readOnly, .readWrite] {
                    let opened = try await CatalogStore(path: path, access: access)
                    #expect(try await opened.episodes(of: veterinary).count == 3)
                    try await opened.close()
                }
            }
        }
    }

    @Test func `what a killed run committed is there`() async throws {
        try await withStore { store async throws in
            _ = try await store.merge(samples(1...3), startingAt: 0, of: veterinary)
            try await store.save([.sample(1)])
            // As the disk looks when the process is gone: nothing was closed, all is still in the -wal file.
            try await withStorePath { copy async throws in
                for suffix in ["", "-wal"] {
                    try FileManager.default.copyItem(atPath: store.path + suffix, toPath: copy + suffix)
                }
                let restored = try await CatalogStore(path: copy, access: .readWrite)
                #expect(try await restored.episode(.sample(1))?.transfer == .sample(1))
                try await restored.close()
            }
        }
    }

    @Test(
        arguments: [CatalogStore.Access.readOnly, .readWrite],
        [
            ("CREATE TRIGGER evil AFTER UPDATE ON book BEGIN DELETE FROM subscription; END", "trigger evil was added"),
            ("CREATE VIEW evil AS SELECT 1", "view evil was added"),
            (
                "DROP TRIGGER file_is_counted; CREATE TRIGGER file_is_counted AFTER INSERT ON local_file "
                    + "BEGIN DELETE FROM subscription; END", "trigger file_is_counted was changed"
            ),
            ("DROP TRIGGER file_is_counted", "trigger file_is_counted is missing"),
        ])
    func `triggers and views that are not booksync's refuse the store, which stays as it is`(
        access: CatalogStore.Access, deed: (sql: String, fault: String)
    ) async throws {
        try await withStorePath { path async throws in
            try await CatalogStore(path: path, access: .readWrite).close()
            let other = try DatabaseQueue(path: path)
            try await other.write { try $0.execute(sql: deed.sql) }
            try other.close()
            let before = try Data(contentsOf: URL(filePath: path))
            let refusal = try await failure { _ = try await CatalogStore(path: path, access: access) }
            #expect(
                refusal?.kind == .configuration && refusal?.why.description.contains(deed.fault) == true,
                "\(refusal as Any)")
            let examined = try await failure { _ = try await StoreExamination(path: path) }
            #expect(examined?.why.description.contains(deed.fault) == true)
            #expect(try Data(contentsOf: URL(filePath: path)) == before)
        }
    }

    @Test(arguments: [CatalogStore.Access.readOnly, .readWrite])
    func `reading goes on while another process writes`(access: CatalogStore.Access) async throws {
        try await withStore { store async throws in
            _ = try await store.merge(samples(1...3), startingAt: 0, of: veterinary)
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: store.path, configuration: configuration)
            try await other.writeWithoutTransaction { database in
                try database.execute(sql: "BEGIN IMMEDIATE; UPDATE episode SET name = 'unfinished'")
            }
            let reader = try await CatalogStore(path: store.path, access: .readOnly)
            for shelf in [access == .readOnly ? reader : store] {
                #expect(try await shelf.books().first?.episodes == 3)
                #expect(try await shelf.episodes(of: veterinary).map(\.episode.name).contains("unfinished") == false)
            }
            try await reader.close()
            try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
            #expect(try await store.episodes(of: veterinary).first?.episode.name == "unfinished")
            try other.close()
        }
    }

    @Test func `a store opened for reading refuses to write`() async throws {
        try await withStore { store async throws in
            let reader = try await CatalogStore(path: store.path, access: .readOnly)
            let failure = try await failure {
                _ = try await reader.merge(samples(1...1), startingAt: 0, of: veterinary)
            }
            #expect(failure?.kind == .libraryUnwritable)
            #expect(failure?.disposition == .stop)
            try await reader.close()
        }
    }

    @Test(arguments: [false, true])
    func `a library that cannot be written can be read`(killed: Bool) async throws {
        try await withStorePath { path async throws in
            let store = try await CatalogStore(path: path, access: .readWrite)
            _ = try await store.merge(samples(1...3), startingAt: 0, of: veterinary)
            try await withStorePath { copy async throws in
                if !killed { try await store.close() }
                for suffix in killed ? ["", "-wal"] : [""] {
                    try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
                }
                // Keeps even root from making the file that SQLite needs, as a medium without writing would.
                try FileManager.default.createDirectory(atPath: copy + "-shm", withIntermediateDirectories: false)
                let reader = try await CatalogStore(path: copy, access: .readOnly)
                #expect(try await reader.episodes(of: veterinary).count == 3)
                #expect(try await reader.books().count == 1)
                try await reader.close()
            }
            if killed { try await store.close() }
        }
    }

    @Test(arguments: [CatalogStore.Access.readOnly, .readWrite])
    func `a store of a newer booksync is refused`(access: CatalogStore.Access) async throws {
        try await withStorePath { path async throws in
            try await CatalogStore(path: path, access: .readWrite).close()
            let other = try DatabaseQueue(path: path)
            try await other.write { try $0.execute(sql: "PRAGMA application_id = \(StoreSchema.applicationID + 1)") }
            try other.close()
            let failure = try await failure { _ = try await CatalogStore(path: path, access: access) }
            #expect(failure?.kind == .configuration)
            #expect(failure?.disposition == .stop)
            #expect(failure?.why.description.contains("made by a newer booksync") == true)
        }
    }

    @Test(arguments: [CatalogStore.Access.readOnly, .readWrite, .exclusive])
    func `a database of another program, or of a booksync before its release, is refused and stays as it is`(
        access: CatalogStore.Access
    ) async throws {
        try await withStorePath { path async throws in
            let other = try DatabaseQueue(path: path)
            try await other.write { try $0.execute(sql: "CREATE TABLE book (id INTEGER PRIMARY KEY)") }
            try other.close()
            let before = try Data(contentsOf: URL(filePath: path))
            let failure = try await failure { _ = try await CatalogStore(path: path, access: access) }
            #expect(failure?.kind == .configuration && failure?.disposition == .stop)
            #expect(failure?.why.description.contains("before its first release") == true)
            #expect(try Data(contentsOf: URL(filePath: path)) == before)
        }
    }

    @Test func `a store without tables is none for reading, and is made by the first that writes`() async throws {
        try await withStorePath { path async throws in
            // As a run that is killed before its first transaction leaves it.
            let other = try DatabasePool(path: path)
            try other.close()
            #expect(try Data(contentsOf: URL(filePath: path)).count > 0)
            let failure = try await failure { _ = try await CatalogStore(path: path, access: .readOnly) }
            #expect(failure?.reason == .storeUnmade)
            let store = try await CatalogStore(path: path, access: .readWrite)
            _ = try await store.merge(samples(1...1), startingAt: 0, of: veterinary)
            try await store.close()
        }
    }

    @Test(arguments: [CatalogStore.Access.readOnly, .readWrite])
    func `a file that is no database is said to be damaged`(access: CatalogStore.Access) async throws {
        try await withStorePath { path async throws in
            try Data(String(repeating: "no database ", count: 1000).utf8).write(to: URL(filePath: path))
            let failure = try await failure { _ = try await CatalogStore(path: path, access: access) }
            #expect(failure?.kind == .inputOutput)
            #expect(failure?.disposition == .stop)
            #expect(failure?.remedy?.description.contains("the audio files are untouched") == true)
        }
    }

    @Test func `a page overwritten with rubbish is said to be damage`() async throws {
        try await withStorePath { path async throws in
            let store = try await CatalogStore(path: path, access: .readWrite)
            _ = try await store.merge(samples(1...200), startingAt: 0, of: veterinary)
            try await store.close()
            var bytes = try Data(contentsOf: URL(filePath: path))
            bytes.replaceSubrange(8192..., with: Data(repeating: 0x55, count: bytes.count - 8192))
            try bytes.write(to: URL(filePath: path))
            let failure = try await failure {
                _ = try await CatalogStore(path: path, access: .readOnly).episodes(of: veterinary)
            }
            #expect(failure?.why.description.contains("is damaged") == true)
        }
    }

    @Test func `a check finds a page overwritten with rubbish, and the store remembers`() async throws {
        try await withStorePath { path async throws in
            let store = try await CatalogStore(path: path, access: .readWrite)
            _ = try await store.merge(samples(1...200), startingAt: 0, of: veterinary)
            try await store.check()
            #expect(store.damage == nil)
            try await store.close()
            var bytes = try Data(contentsOf: URL(filePath: path))
            let name = try #require(bytes.range(of: Data("第150集".utf8))).lowerBound
            let page = name / 4096 * 4096
            bytes.replaceSubrange(page..<page + 4096, with: Data(repeating: 0x55, count: 4096))
            try bytes.write(to: URL(filePath: path))
            let damaged = try await CatalogStore(path: path, access: .readWrite)
            let failure = try await failure { try await damaged.check() }
            #expect(failure?.isStoreDamage == true)
            #expect(damaged.damage == failure)
            try await damaged.close()
        }
    }

    @Test func `a store that is not there cannot be read, and is not made`() async throws {
        try await withStorePath { path async throws in
            let failure = try await failure { _ = try await CatalogStore(path: path, access: .readOnly) }
            #expect(failure?.why.description == "there is no \(path)")
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func `a folder that is not there is not made`() async throws {
        try await withStorePath { path async throws in
            let failure = try await failure { _ = try await CatalogStore(path: path + "/store", access: .readWrite) }
            #expect(failure?.kind == .libraryUnwritable)
        }
    }

    @Test func `two can open a new store at the same time`() async throws {
        try await withStorePath { path async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...4 {
                    group.addTask {
                        let store = try await CatalogStore(path: path, access: .readWrite)
                        _ = try await store.merge([.sample(number)], startingAt: number, of: veterinary)
                        try await store.close()
                    }
                }
                try await group.waitForAll()
            }
            let reader = try await CatalogStore(path: path, access: .readOnly)
            #expect(try await reader.episodes(of: veterinary).count == 4)
            try await reader.close()
        }
    }
}
