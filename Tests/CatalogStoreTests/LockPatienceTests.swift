import BookModel
import Foundation
import GRDB
import Support
import Testing

@testable import CatalogStore

/// Statements that each waited for themselves would be told by the time that these tests take: twenty minutes.
@Suite(.full, .limitedConcurrency) struct LockPatienceTests {
    @Test func `of many writes against a lock that nobody gives up one waits, and later ones succeed`() async throws {
        try await withStore { store async throws in
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: store.path, configuration: configuration)
            try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
            for _ in 1...120 {
                let refusal = try await failure {
                    _ = try await store.merge([.sample(1)], startingAt: 0, of: veterinary)
                }
                #expect(refusal?.kind == .temporary && refusal?.disposition == .stop, "\(refusal as Any)")
            }
            // Reading goes on.
            #expect(try await store.books().isEmpty)
            try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
            _ = try await store.merge([.sample(1)], startingAt: 0, of: veterinary)
            try other.close()
        }
    }

    @Test func `whoever has waited as long as SQLite's own handler gives up, and the next one does not wait`() throws {
        let patience = LockPatience()
        #expect(patience.waits(afterTries: 0))
        #expect(!patience.waits(afterTries: 200))
        #expect(!patience.waits(afterTries: 0))
        try patience.watchingWrite {}
        #expect(patience.waits(afterTries: 0))
    }

    /// Python takes the locks of all readers, which SQLite itself never holds together (SQLite's WAL format, §2.3).
    private static let taking = """
        import fcntl, sys, time
        file = open(sys.argv[1], 'r+b')
        fcntl.lockf(file, fcntl.LOCK_EX, 5, 123)
        print('held', flush=True)
        time.sleep(3600)
        """

    @Test(.needs("python3"))
    func `readers' locks that cannot be had fail what comes after the first without a wait`() async throws {
        try await withStore { store async throws in
            _ = try await store.merge([.sample(1)], startingAt: 0, of: veterinary)
            let folder = URL(filePath: store.path).deletingLastPathComponent()
            try await withProduct(
                ["-c", Self.taking, store.path + "-shm"], in: folder, executable: URL(filePath: "/usr/bin/python3")
            ) { holder in
                try await holder.waitForOutput(containing: "held")
                for _ in 1...60 {
                    let refusals = [
                        try await failure { _ = try await store.books() },
                        try await failure { try await store.save([.sample(1)]) },
                    ]
                    for refusal in refusals {
                        #expect(refusal?.kind == .inputOutput && refusal?.disposition == .stop, "\(refusal as Any)")
                    }
                }
            }
        }
    }
}
