import Foundation
import Support
import Testing

extension ProductTests {
    /// Several libraries in one view, with the product as a process.
    @Suite(.limitedConcurrency) struct Libraries {
        private static let two = "libraries: { home: L, attic: A }"

        /// Book 1 in the first library, 2 in the second; 3 is nowhere.
        private func withTwo(
            more: String = "", _ body: (Workbench, MisbehavingServer) async throws -> Void
        ) async throws {
            try await withCatalog(ScriptedCatalog(episodes: 2).script, more: Self.two + "\n" + more) { bench, server in
                for arguments in [["fetch", "1", "-q"], ["fetch", "2", "-q", "--library", "attic"]] {
                    #expect(try await bench.runBare(arguments, environment: bench.configured).exitCode == 0)
                }
                try await body(bench, server)
            }
        }

        private func run(_ bench: Workbench, _ arguments: String...) async throws -> ProductRunner.Result {
            try await bench.runBare(arguments, environment: bench.configured)
        }

        @Test func `what is read is of all libraries, and says of which`() async throws {
            try await withTwo { bench, _ in
                let list = try await run(bench, "list", "--json")
                #expect(try JSONObject.list(list.output).map { $0["library"] } == ["home", "attic"])
                #expect(try await run(bench, "list").output.contains("attic"))
                let limited = try await run(bench, "list", "--json", "--limit", "1")
                #expect(try JSONObject.list(limited.output).map { $0["id"] } == ["1"])
                let found = try await run(bench, "search", "第1集", "--json")
                #expect(try JSONObject.list(found.output).map { $0["library"] } == ["home", "attic"])
                let shown = try await run(bench, "show", "2", "--json")
                #expect(try JSONObject(shown.output)["library"] == "attic")
                let episodes = try await run(bench, "list", "1", "2", "--json")
                #expect(
                    try JSONObject.list(episodes.output).map { $0["library"] } == ["home", "home", "attic", "attic"])
                let runs = try await run(bench, "runs", "--json")
                #expect(try JSONObject.list(runs.output).map { $0["library"] } == ["home", "attic"])
                #expect(try await run(bench, "explain", "2/1").output.contains("in the library attic"))
                #expect(try await run(bench, "queue", "--json").output == "[]\n")
                #expect(try await run(bench, "doctor").output.contains("attic: store"))
                let table = try await run(bench, "export", "csv", "--output", "-")
                #expect(table.output.split(whereSeparator: \.isNewline).count == 5)
            }
        }

        @Test func `with one library chosen everything is printed as if there were no other`() async throws {
            try await withTwo { bench, server in
                for arguments in [
                    ["list"], ["list", "--json"], ["search", "第1集", "--json"], ["show", "1"], ["runs", "--last", "3"],
                    ["queue"], ["explain", "1/1"], ["list", "1"], ["export", "csv", "--output", "-"], ["subscriptions"],
                ] {
                    let chosen = try await bench.runBare(
                        arguments + ["--library", "home"], environment: bench.configured)
                    try bench.configure(ScriptedCatalog.configuration(port: server.port))
                    let alone = try await bench.runBare(arguments + ["--library", "L"], environment: bench.configured)
                    try bench.configure(ScriptedCatalog.configuration(port: server.port, more: Self.two))
                    #expect(chosen.output == alone.output && chosen.errors == alone.errors, "\(arguments)")
                    #expect(chosen.exitCode == alone.exitCode)
                }
                let mistyped = try await run(bench, "list", "--library", "atic")
                #expect(mistyped.exitCode == 78 && mistyped.errors.contains("did you mean 'attic'?"))
            }
        }

        @Test func `what acts goes to the library that has the book, and nothing is fetched twice`() async throws {
            try await withTwo { bench, server in
                let sent = server.record.audioBytesSent
                let removed = try await run(bench, "remove", "2/1")
                #expect(removed.exitCode == 0, "\(removed.errors)")
                #expect(try bench.files(in: bench.folder.appending(path: "A")).count == 1)
                let trash = try await run(bench, "trash", "list", "--json")
                #expect(try JSONObject.list(trash.output).map { $0["library"] } == ["attic"])
                #expect(try await run(bench, "undo", "-q").exitCode == 0)
                #expect(try bench.files(in: bench.folder.appending(path: "A")).count == 2)
                #expect(try await run(bench, "verify", "-q").exitCode == 0)
                #expect(try await run(bench, "fetch", "1", "2", "-q").exitCode == 0)
                #expect(server.record.audioBytesSent == sent)
                // Neither into another one by name.
                let twice = try await run(bench, "fetch", "2", "--library", "home")
                #expect(twice.errors.contains("the library 'attic' has it"), "\(twice.errors)")
                #expect(server.record.audioBytesSent == sent)
            }
        }

        @Test func `plan says of subscriptions that another library has what mirror does of them`() async throws {
            let subscriptions = "subscriptions: [{ book: \"cat:2\" }, { book: \"cat:1\", library: attic }]"
            try await withTwo(more: subscriptions) { bench, _ in
                let plan = try await run(bench, "plan")
                #expect(plan.exitCode == 0 && !plan.errors.contains("is not fetched"), "\(plan.errors)")
                #expect(try await run(bench, "mirror").exitCode == 0)
            }
        }

        @Test func `mirror goes through the libraries, each with its own subscriptions`() async throws {
            let catalog = ScriptedCatalog(episodes: 2)
            let subscriptions = "subscriptions: [{ book: \"cat:1\" }, { book: \"cat:2\", library: attic }]"
            try await withCatalog(catalog.script, more: Self.two + "\n" + subscriptions) { bench, server in
                for _ in 1...2 {
                    let night = try await run(bench, "mirror")
                    #expect(night.exitCode == 0, "\(night.errors)")
                    #expect(night.errors.contains("home:") && night.errors.contains("attic:"), "\(night.errors)")
                }
                #expect(try bench.files().count == 2)
                #expect(try bench.files(in: bench.folder.appending(path: "A")).count == 2)
                #expect(server.record.audioBytesSent == 2 * catalog.totalBytes)
                // What was moved stays where it is, whatever its subscription says.
                let moved = try await run(bench, "move", "1", "--to", "attic", "--json")
                #expect(moved.exitCode == 0, "\(moved.errors)")
                #expect(try JSONObject(moved.output)["outcome"] == "moved")
                #expect(try await run(bench, "mirror", "-q").exitCode == 0)
                #expect(try bench.files().isEmpty)
                #expect(try bench.files(in: bench.folder.appending(path: "A")).count == 4)
                #expect(server.record.audioBytesSent == 2 * catalog.totalBytes)
            }
        }

        @Test
        func `a library that cannot be looked at is named, the others are shown, and what it may have is not fetched`()
            async throws
        {
            try await withTwo { bench, server in
                let store = bench.folder.appending(path: "A/.booksync/store.sqlite")
                try Data("no database at all, whatever it is called".utf8).write(to: store)
                let requests = server.record.requests.count
                for arguments in [["list"], ["search", "第1集"], ["runs"], ["queue"]] {
                    let result = try await bench.runBare(arguments, environment: bench.configured)
                    #expect(
                        result.exitCode == 74 && result.errors.contains("attic: "), "\(arguments): \(result.errors)")
                }
                #expect(try await run(bench, "list").output.contains("cat:1"))
                #expect(try await run(bench, "fetch", "2").errors.contains("'attic' may have it"))
                #expect(try await run(bench, "fetch", "3").errors.contains("'attic' may have it"))
                #expect(server.record.requests.count == requests)
            }
        }

        @Test func `a move killed at any moment is settled by the next one, without a fetch`() async throws {
            let catalog = ScriptedCatalog(episodes: 40, bytes: 3000)
            try await withCatalog(catalog.script, more: Self.two) { bench, server in
                #expect(try await run(bench, "fetch", "1", "-q").exitCode == 0)
                let sent = server.record.requests.count
                let attic = bench.folder.appending(path: "A")
                for count in [1, 5, 20, 39, 40] {
                    let target = count.isMultiple(of: 2) ? "home" : "attic"
                    try await withProduct(
                        ["move", "1", "--to", target], environment: bench.configured, in: bench.folder
                    ) { product in
                        // Killed as soon as so many files are there, or when it is done.
                        let folder = target == "attic" ? attic : bench.library
                        try await waitUntil("\(count) files are there") {
                            try bench.files(in: folder).count >= count
                        }
                        product.send(signal: SIGKILL)
                        _ = try await product.result()
                    }
                    let now = [try bench.files().count, try bench.files(in: attic).count]
                    #expect(now.contains(40), "\(now)")
                    let settled = try await run(bench, "move", "1", "--to", target, "-q")
                    #expect(settled.exitCode == 0, "\(settled.errors)")
                    let digests = try bench.files(in: target == "attic" ? attic : bench.library)
                        .sorted { $0.key < $1.key }.map { sha256(try Data(contentsOf: $0.value)) }
                    #expect(digests == catalog.digests)
                    #expect(try bench.files(in: target == "attic" ? bench.library : attic).isEmpty)
                }
                #expect(server.record.requests.count == sent)
            }
        }
    }
}
