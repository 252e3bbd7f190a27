import Foundation
import Support
import Testing

extension ProductTests {
    /// Cases 34 and 35 of the download cases: kills between the steps of a publication. In which order these reach the disk is judged by
    /// `Tests/PowerCut`.
    @Suite(
        .needs("strace, and the right to trace") { await SystemCallTrace.isPossible() }, .needs("sqlite3"))
    struct PowerCut {
        /// A system call of a publication, with the file or folder that it is about.
        enum Step: CaseIterable {
            case sync, announcement, rename, folderSync

            var name: String {
                switch self {
                case .announcement: "fdatasync"
                case .sync, .folderSync: "fsync"
                case .rename: "renameat2"
                }
            }
        }

        @Test(arguments: Step.allCases)
        func `case 34: a run that is killed at a step of a publication loses nothing, and the next one syncs it`(
            step: Step
        ) async throws {
            let catalog = ScriptedCatalog(episodes: 1, bytes: 30_000)
            try await withCatalog(catalog.script) { bench, server in
                let product = try #require(ProductRunner.executable)
                let log = bench.folder.appending(path: "trace")
                func fetch(into library: String, _ options: [String]) async throws -> ProductRunner.Result {
                    try await withProduct(
                        options + [product.path, "fetch", "1", "--json", "--library", library],
                        environment: bench.configured, in: bench.folder, executable: SystemCallTrace.tool
                    ) { try await $0.result() }
                }
                // Where everything goes.
                _ = try await fetch(into: "Other", SystemCallTrace.options(to: log))
                let other = bench.folder.appending(path: "Other")
                let file = try #require(try bench.files(in: other).first?.key)
                let trace = Publications(try String(contentsOf: log, encoding: .utf8), library: other.path)
                let partial = try #require(trace.renames(to: other.path + "/" + file).first?.from)
                    .replacing(other.path, with: bench.library.path)
                let folder = bench.library.appending(path: file).deletingLastPathComponent().path
                let path =
                    switch step {
                    case .announcement: bench.library.path + "/.booksync/store.sqlite-wal"
                    case .sync, .rename: partial
                    case .folderSync: folder
                    }
                let sent = server.record.audioBytesSent

                let killed = try await fetch(
                    into: "L",
                    ["-f", "-o", "/dev/null", "-P", path, "-e", "inject=\(step.name):signal=KILL", "-e", "signal=none"])
                #expect(killed.signal == SIGKILL, "\(killed)")
                #expect(try bench.files().isEmpty == (step != .folderSync))
                if step == .rename || step == .folderSync {
                    // What was synced and announced is whole after another boot too.
                    let rebooted = try await ForeignProgram.run(
                        "sqlite3",
                        [bench.library.path + "/.booksync/store.sqlite", "UPDATE transfer SET boot_id = 'another'"],
                        in: bench)
                    #expect(rebooted.exitCode == 0, "\(rebooted.errors)")
                }

                let next = try await fetch(into: "L", SystemCallTrace.options(to: log))
                #expect(next.exitCode == 0, "\(next.errors)")
                #expect(try bench.digests() == catalog.digests)
                #expect(server.record.audioBytesSent - sent == catalog.totalBytes)
                // Whichever run put it there, its name is on disk before the record of it.
                let recovery = Publications(try String(contentsOf: log, encoding: .utf8), library: bench.library.path)
                let digest = Array(sha256(catalog.items[0].bytes).utf8)
                let commit = try #require(recovery.pageWrites.last { $0.bytes.contains(digest) })
                let synced = try #require(recovery.firstSync(of: folder))
                #expect(synced.end < commit.call.begin)
            }
        }

        @Test func `what was restored before a kill, and not recorded, is recorded by the next run`() async throws {
            try await withWorkbench { bench in
                _ = try await bench.run("fetch", "demo:40111", "-q")
                let files = try bench.digests()
                let folder = try #require(try bench.files().values.first).deletingLastPathComponent().path
                #expect(try await bench.run("remove", "demo:40111/2", "--yes").exitCode == 0)
                let product = try #require(ProductRunner.executable)
                let killed = try await withProduct(
                    ["-f", "-o", "/dev/null", "-P", folder, "-e", "inject=fsync:signal=KILL", "-e", "signal=none"]
                        + [product.path, "trash", "restore", "--all", "--library", "L"],
                    in: bench.folder, executable: SystemCallTrace.tool
                ) { try await $0.result() }
                #expect(killed.signal == SIGKILL, "\(killed)")
                let next = try await bench.run("fetch", "demo:40111", "--json")
                #expect(try next.summary().number("kept") == 6 && next.summary().number("removed") == 0)
                #expect(try await bench.run("trash", "list", "--json").output == "[]\n")
                #expect(try bench.digests() == files)
            }
        }
    }
}

/// What a trace shows of publications.
private struct Publications {
    typealias Call = SystemCallTrace.Call

    let library: String
    private let calls: [Call]

    init(_ text: String, library: String) {
        self.library = library
        self.calls = SystemCallTrace(text).calls
    }

    /// The file that the store's transactions are written to.
    var log: String { library + "/.booksync/store.sqlite-wal" }

    /// Renames of a file from anywhere to the path.
    func renames(to path: String) -> [(from: String, call: Call)] {
        calls.compactMap { call in
            guard call.result == 0, ["renameat", "renameat2"].contains(call.name), let from = call.text(1),
                let folder = call.path(2), let name = call.text(3), folder + "/" + name == path
            else { return nil }
            return (from, call)
        }
    }

    /// Pages written to the log: each is a frame's head (SQLite's file format, §4.1), which begins with the page's number,
    /// and right behind it the page.
    var pageWrites: [(page: [UInt8], bytes: [UInt8], call: Call)] {
        let writes = calls.filter { $0.name == "pwrite64" && $0.path(0) == log && $0.result > 0 }
        var heads: [Int: [UInt8]] = [:]
        var pages: [(page: [UInt8], bytes: [UInt8], call: Call)] = []
        for write in writes {
            guard let offset = write.number(3), let bytes = write.bytes(1) else { continue }
            if write.result == 24 {
                heads[offset + 24] = Array(bytes.prefix(4))
            } else if let page = heads[offset] {
                pages.append((page, bytes, write))
            }
        }
        return pages
    }

    func firstSync(of path: String) -> Call? {
        calls.first { ["fsync", "fdatasync"].contains($0.name) && $0.path(0) == path && $0.result == 0 }
    }
}

extension [UInt8] {
    fileprivate func contains(_ other: [UInt8]) -> Bool {
        guard let first = other.first else { return true }
        var start = startIndex
        while let found = self[start...].firstIndex(of: first) {
            if self[found...].starts(with: other) { return true }
            start = found + 1
        }
        return false
    }
}
