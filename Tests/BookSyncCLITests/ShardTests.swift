import Foundation
import Support
import Testing

extension ProductTests {
    /// A fleet of workers, one after the other: each book goes to the library of its shard, and to no other.
    @Suite struct Shards {
        private static let catalog = ScriptedCatalog(episodes: 2)
        private static let books = (1...12).map(String.init)

        /// The formula of the documentation, written once more.
        private static func shard(of book: String, among count: Int) -> Int {
            func mix(_ value: UInt64) -> UInt64 {
                var mixed = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
                mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
                return mixed ^ mixed >> 31
            }
            let hash = "cat:\(book)".utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
            return (0..<count).max { mix(hash ^ mix(UInt64($0 + 1))) < mix(hash ^ mix(UInt64($1 + 1))) } ?? 0
        }

        /// Makes the libraries' folders, too: one that is not there counts as a disk that is not mounted.
        private static func configure(shards count: Int, _ bench: Workbench, _ server: MisbehavingServer) throws {
            for shard in 0..<count {
                let folder = bench.folder.appending(path: "s\(shard)")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            }
            let libraries = (0..<count).map { "s\($0): s\($0)" }.joined(separator: ", ")
            let subscriptions = books.map { "{ book: \"cat:\($0)\" }" }.joined(separator: ", ")
            try bench.configure(
                ScriptedCatalog.configuration(
                    port: server.port, more: "libraries: { \(libraries) }\nsubscriptions: [\(subscriptions)]"))
        }

        private static func run(
            _ bench: Workbench, _ arguments: String..., environment: [String: String] = [:]
        ) async throws -> ProductRunner.Result {
            try await bench.runBare(arguments, environment: bench.configured.merging(environment) { $1 })
        }

        /// By `list`, which book is in which library; and that all their files are there.
        private static func expect(shards count: Int, in bench: Workbench) async throws {
            for shard in 0..<count {
                let list = try await run(bench, "list", "--json", "--library", "s\(shard)")
                let found = Set(try JSONObject.list(list.output).compactMap { $0["id"] })
                #expect(found == Set(books.filter { Self.shard(of: $0, among: count) == shard }), "shard \(shard)")
                #expect(try bench.files(in: bench.folder.appending(path: "s\(shard)")).count == 2 * found.count)
            }
        }

        @Test func `a worker whose disk is not mounted downloads nothing onto the empty folder`() async throws {
            try await withCatalog(Self.catalog.script) { bench, server in
                try Self.configure(shards: 2, bench, server)
                #expect(try await Self.run(bench, "mirror", "--shard", "0/2", "-q").exitCode == 0)
                let folder = bench.folder.appending(path: "s0")
                try FileManager.default.removeItem(at: folder)
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                let requests = server.record.requests.count
                for _ in 1...2 {
                    let night = try await Self.run(bench, "mirror", "--shard", "0/2", "-q")
                    #expect(night.exitCode == 73, "\(night.errors)")
                }
                #expect(server.record.requests.count == requests)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
            }
        }

        @Test func `each worker brings its share, and move --rebalance the books to a new one, without a download`()
            async throws
        {
            try await withCatalog(Self.catalog.script) { bench, server in
                try Self.configure(shards: 3, bench, server)
                for shard in 0..<3 {
                    let night = try await Self.run(bench, "mirror", "--shard", "\(shard)/3", "--concurrent", "1")
                    #expect(night.exitCode == 0, "\(night.errors)")
                }
                let bytes = Self.books.count * Self.catalog.totalBytes
                #expect(server.record.audioBytesSent == bytes)
                try await Self.expect(shards: 3, in: bench)
                // As Kubernetes says which worker it is.
                for shard in 0..<3 {
                    let night = try await Self.run(
                        bench, "mirror", "--shard", "auto", "--concurrent", "1",
                        environment: ["JOB_COMPLETION_INDEX": "\(shard)"])
                    #expect(night.exitCode == 0, "\(night.errors)")
                }
                #expect(server.record.audioBytesSent == bytes)

                try Self.configure(shards: 4, bench, server)
                let requests = server.record.requests.count
                for words in [["mirror", "--shard", "0/4"], ["mirror", "--shard", "0/3"]] {
                    #expect(try await bench.runBare(words, environment: bench.configured).exitCode == 78, "\(words)")
                }
                let planned = try await Self.run(bench, "move", "--rebalance", "--dry-run", "--json")
                let going = Self.books.filter { Self.shard(of: $0, among: 3) != Self.shard(of: $0, among: 4) }
                #expect(!going.isEmpty && planned.exitCode == 0, "\(planned.errors)")
                let documents = try planned.output.split(separator: "\n").map { try JSONObject(String($0)) }
                #expect(Set(documents.compactMap { $0["id"] }) == Set(going))
                #expect(documents.allSatisfy { $0["outcome"] == "planned" && $0["to"] == "s3" })
                try await Self.expect(shards: 3, in: bench)
                let moved = try await Self.run(bench, "move", "--rebalance")
                #expect(moved.exitCode == 0, "\(moved.errors)")
                #expect(server.record.requests.count == requests)
                try await Self.expect(shards: 4, in: bench)
                for shard in 0..<4 {
                    let night = try await Self.run(bench, "mirror", "--shard", "\(shard)/4", "--concurrent", "1")
                    #expect(night.exitCode == 0, "\(night.errors)")
                }
                #expect(server.record.audioBytesSent == bytes)
            }
        }

        private static let misfits: [(options: [String], code: Int32)] = [
            (["--shard", "3/3"], 64), (["--shard", "1/2"], 78), (["--shard", "auto"], 64), (["--concurrent", "2"], 64),
            (["--shard", "0/3", "--concurrent", "1000"], 64),
        ]

        @Test(arguments: misfits)
        func `a worker that does not fit the libraries, or the hosts, asks nobody`(_ options: [String], _ code: Int32)
            async throws
        {
            try await withCatalog(Self.catalog.script) { bench, server in
                try Self.configure(shards: 3, bench, server)
                let result = try await bench.runBare(["mirror"] + options, environment: bench.configured)
                #expect(result.exitCode == code, "\(result.errors)")
                #expect(server.record.requests.isEmpty)
            }
        }
    }
}
