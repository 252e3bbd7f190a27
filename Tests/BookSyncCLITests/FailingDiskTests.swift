import Foundation
import Support
import Testing

extension ProductTests {
    /// Case 36 of the download cases: the disk fails at a step of a publication. strace has the system call fail in the
    /// real program.
    @Suite(
        .needs("strace, and the right to trace") { await SystemCallTrace.isPossible() })
    struct FailingDisk {
        enum Step: CaseIterable {
            case sync, rename, folderSync

            var call: String {
                switch self {
                case .sync, .folderSync: "fsync"
                case .rename: "renameat2"
                }
            }
        }

        @Test(arguments: Step.allCases, [("EIO", "Input/output error"), ("ENOSPC", "the disk is full")])
        func `case 36: a step of a publication that fails is 74, and the next run ends it without a byte more`(
            step: Step, error: (name: String, why: String)
        ) async throws {
            let catalog = ScriptedCatalog(episodes: 2, bytes: 30_000)
            try await withCatalog(catalog.script) { bench, server in
                // Where everything goes; the book's folder is there from the second run on.
                let whole = try await bench.runBare(["fetch", "1/2", "--library", "L"], environment: bench.configured)
                try #require(whole.exitCode == 0, "\(whole.errors)")
                let folder = try #require(try bench.files().values.first).deletingLastPathComponent().path
                // Partial files are named after the identity of their episode.
                let identity = "cat\u{0}1\u{0}\(catalog.items[0].id)"
                let partial =
                    bench.library.path + "/.booksync/partial/\(sha256(Data(identity.utf8)).prefix(32)).part"
                let path =
                    switch step {
                    case .sync, .rename: partial
                    case .folderSync: folder
                    }

                let product = try #require(ProductRunner.executable)
                let options = [
                    "-f", "-o", "trace", "-P", path, "-e", "trace=\(step.call)", "-e",
                    "inject=\(step.call):error=\(error.name)", "-e", "signal=none",
                ]
                let failed = try await withProduct(
                    options + [product.path, "fetch", "1", "--library", "L"], environment: bench.configured,
                    in: bench.folder, executable: SystemCallTrace.tool
                ) { try await $0.result() }
                let trace = try String(contentsOf: bench.folder.appending(path: "trace"), encoding: .utf8)
                #expect(trace.contains("(INJECTED)"), "\(trace)")
                #expect(failed.exitCode == 74, "\(failed)")
                #expect(failed.errors.contains(error.why), "\(failed.errors)")
                // There is room enough: to ask for some by the byte would mislead.
                #expect(!failed.errors.contains("make room for"), "\(failed.errors)")

                let next = try await bench.run("fetch", "1", "--json", environment: bench.configured)
                #expect(next.exitCode == 0, "\(next.errors)")
                #expect(try bench.digests() == catalog.digests)
                #expect(try bench.partialFiles == [])
                #expect(server.record.audioBytesSent == catalog.totalBytes)
                let verified = try await bench.run("verify", environment: bench.configured)
                #expect(verified.exitCode == 0, "\(verified.errors)")
            }
        }
    }
}
