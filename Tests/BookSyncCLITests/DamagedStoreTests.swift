import BookSyncWeb
import Foundation
import Support
import Testing

extension ProductTests {
    /// Case 44 through the product.
    @Suite struct DamagedStore {
        @Test(arguments: [
            "rm L/.booksync/store.sqlite*", ": > L/.booksync/store.sqlite",
            "head -c 9000 /dev/urandom > L/.booksync/store.sqlite",
        ])
        func `case 44: the shelf says what is wrong, and the next fetch fetches nothing`(damage: String) async throws {
            try await withWorkbench { bench in
                _ = try await bench.run("fetch", DemoCatalog.shortBook, "-q")
                let digests = try bench.digests()
                _ = try await bench.shell(damage)
                for command in [["list"], ["show", DemoCatalog.shortBook], ["queue"], ["pause", "--all"]] {
                    let result = try await bench.runBare(command + ["--library", "L"])
                    #expect(result.exitCode == 74, "\(command): \(result.errors)")
                    #expect(result.errors.contains("booksync fetch"))
                }
                let plan = try await bench.run("fetch", DemoCatalog.shortBook, "--dry-run")
                #expect(plan.exitCode == (damage.contains("urandom") ? 74 : 0))
                let result = try await bench.run("fetch", "--book", DemoCatalog.shortBook, "--json")
                let summary = try result.summary()
                #expect(summary.number("adopted") == 6 && summary.number("fetched") == 0)
                #expect(summary.number("bytes_received") == 0 && summary.number("exit_code") == 0)
                #expect(try result.events().count { $0["event"] == "adopted" } == 6)
                #expect(result.errors.contains("a new one is begun"))
                #expect(try bench.digests() == digests)
                #expect(try await bench.run("list").exitCode == 0)
            }
        }
    }
}
