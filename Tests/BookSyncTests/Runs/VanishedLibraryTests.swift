import LibraryFiles
import Support

#if os(Linux)
    import BookModel
    import CatalogStore
    import Foundation
    import Logging
    import Settings
    import Testing

    @testable import BookSync

    /// Case 37 of the download cases: the library's disk goes away, before a run or while it is under way.
    @Suite(.full, .limitedConcurrency) struct VanishedLibraryTests {
        private let files = FileManager.default

        /// One episode at a time; the second one stalls until the gate opens.
        private static func catalog(heldBy gate: Gate) -> ScriptedCatalog {
            var catalog = ScriptedCatalog.episodes(4)
            catalog.audio["/audio/2.mp3"] = .file(
                ScriptedCatalog.bytes(2), [.stall(at: 20_000, until: gate), .wellBehaved])
            return catalog
        }

        /// Returns when the first episode is in its place and the second one is under way.
        private func waitUntilHeld(_ bench: RunBench) async throws {
            try await bench.waitUntilHeld(20_000, of: 2)
            try await bench.events.waitUntil { events in
                events.contains { if case .finished = $0 { true } else { false } }
            }
        }

        private func knownLibraries(in folder: URL) -> KnownLibraries {
            KnownLibraries(
                folder: folder.path + "/notes", logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }

        @Test(
            .needsMounting, arguments: [true, false])
        func `case 37: a disk that is unmounted midway ends the run, and nothing is begun in its place`(
            isLibraryItself: Bool
        ) async throws {
            try await withTemporaryFolder { (folder: URL) in
                let mountPoint = folder.path + "/disk"
                let home = folder.path + "/home"
                for path in [mountPoint, home] {
                    try files.createDirectory(atPath: path, withIntermediateDirectories: false)
                }
                // Held at another place as well, so that what is on it can be looked at afterwards.
                let kept = try SmallDisk.mount(at: home, kilobytes: 20_000)
                defer { kept.unmount() }
                let disk = try kept.mountAlso(at: mountPoint)
                let library = mountPoint + (isLibraryItself ? "" : "/Audiobooks")
                let gate = Gate()
                try await withRunBench(Self.catalog(heldBy: gate), jobs: 1, library: library) { bench in
                    async let report = bench.run()
                    try await waitUntilHeld(bench)
                    disk.unmount()
                    let first = try await report
                    gate.open()
                    #expect(first.failures.map(\.kind) == [.libraryUnwritable], "\(first.failures)")
                    #expect(first.failures.first?.what.description.contains("no longer where it was") == true)
                    #expect(try files.contentsOfDirectory(atPath: mountPoint) == [])
                    #expect(bench.audioRequests.count == 2)

                    let again = try kept.mountAlso(at: mountPoint)
                    defer { again.unmount() }
                    let second = try await bench.run()
                    #expect(second.failures.isEmpty, "\(second.failures)")
                    #expect(
                        second.summary.kept == 1 && second.summary.resumed == 1 && second.summary.fetched == 2,
                        "\(second.summary)")
                    #expect(first.summary.bytesReceived + second.summary.bytesReceived == 160_000)
                    for section in 1...4 { #expect(try await bench.bytes(section) == ScriptedCatalog.bytes(section)) }
                }
            }
        }

        @Test func `case 37: a folder .booksync that is moved away midway ends the run, and none is made anew`()
            async throws
        {
            let gate = Gate()
            try await withRunBench(Self.catalog(heldBy: gate), jobs: 1) { bench in
                async let report = bench.run()
                try await waitUntilHeld(bench)
                let own = LibraryFolder.existing(at: bench.library).ownFolder
                try files.moveItem(atPath: own, toPath: own + "-away")
                let first = try await report
                gate.open()
                #expect(first.failures.map(\.kind) == [.libraryUnwritable], "\(first.failures)")
                #expect(!files.fileExists(atPath: own))
                #expect(bench.audioRequests.count == 2)

                try files.moveItem(atPath: own + "-away", toPath: own)
                let second = try await bench.run()
                #expect(second.failures.isEmpty, "\(second.failures)")
                #expect(second.summary.kept == 1 && second.summary.resumed == 1 && second.summary.fetched == 2)
                #expect(first.summary.bytesReceived + second.summary.bytesReceived == 160_000)
            }
        }

        @Test(arguments: [MissingFileRule.fetch, .tombstone])
        func `case 37: where the library is gone while catalogs are asked no book counts as deleted`(
            rule: MissingFileRule
        ) async throws {
            let gate = Gate()
            defer { gate.open() }
            try await withRunBench(.episodes(2)) { standard in
                var changed = standard
                changed.configuration.downloads.onMissingFile = rule
                let bench = changed
                let books = [RunBench.book, BookIdentity(source: "kting", id: "7")]
                let request = try RunRequest(items: books.map { .init(book: $0, title: "Book \($0.id)") })
                let library = bench.library
                @Sendable func execute(_ bench: RunBench) async throws -> RunReport {
                    try await LibrarySession.withLibrary(at: library, command: "test") {
                        try await bench.syncRun.execute(request, in: $0)
                    }
                }
                #expect(try await execute(bench).summary.fetched == 4)
                let paths = try await bench.withStore { try await $0.filePaths() }
                // The second book's catalog does not answer before the disk is gone, and the engine knows it.
                bench.catalog.update { $0.held["7"] = gate }
                bench.events.update { $0 = [] }
                async let report = execute(bench)
                try await bench.events.waitUntil { $0.contains { if case .planned = $0 { true } else { false } } }
                try files.moveItem(atPath: library, toPath: library + "-away")
                let failures = try await report.failures
                #expect(failures.map(\.kind) == [.libraryUnwritable], "\(failures)")
                #expect(bench.notices.contains("the run ended before 1 book came to be looked at"), "\(bench.notices)")
                try files.moveItem(atPath: library + "-away", toPath: library)
                #expect(try await bench.withStore { try await $0.filePaths() } == paths)
                for section in 1...2 { #expect(try await bench.shelved(section)?.removedAt == nil) }
            }
        }

        @Test(arguments: [nil, "", "mirror.log", ".stfolder/x", "@eaDir/1.mp3/info", "lost+found/"])
        func `a library that is gone, or holds no audio, is begun again only when its note is`(leftover: String?)
            async throws
        {
            try await withTemporaryFolder { (folder: URL) in
                let knownLibraries = knownLibraries(in: folder)
                try await withRunBench(.episodes(2)) { bench in
                    #expect(try await bench.run(knownLibraries: knownLibraries).summary.fetched == 2)
                    #expect(files.fileExists(atPath: knownLibraries.file(of: bench.library)))
                    try files.removeItem(atPath: bench.library)
                    if let leftover {
                        let file = URL(filePath: bench.library + "/" + leftover)
                        let folder = leftover.contains(/[^\/]$/) ? file.deletingLastPathComponent() : file
                        try files.createDirectory(at: folder, withIntermediateDirectories: true)
                        if folder != file { try Data().write(to: file) }
                    }
                    let failure = try await #require(throws: Failure.self) {
                        try await bench.run(knownLibraries: knownLibraries)
                    }
                    #expect(
                        failure.kind == .libraryUnwritable && failure.why.description.contains("any audio is there"))
                    #expect(bench.audioRequests.count == 2)
                    try files.removeItem(atPath: knownLibraries.file(of: bench.library))
                    #expect(try await bench.run(knownLibraries: knownLibraries).summary.fetched == 2)
                }
            }
        }

        @Test func `a library whose store alone is gone is gone on with`() async throws {
            try await withTemporaryFolder { (folder: URL) in
                let knownLibraries = knownLibraries(in: folder)
                try await withRunBench(.episodes(2)) { bench in
                    #expect(try await bench.run(knownLibraries: knownLibraries).summary.fetched == 2)
                    try files.removeItem(atPath: LibraryFolder.existing(at: bench.library).ownFolder)
                    let report = try await bench.run(knownLibraries: knownLibraries)
                    #expect(report.summary.fetched == 0 && report.failures.isEmpty, "\(report.failures)")
                }
            }
        }

        @Test func `where no notes can be kept a run works without, and a note that says nothing is none`() async throws
        {
            try await withTemporaryFolder { (folder: URL) in
                try Data().write(to: folder.appending(path: "notes"))
                try await withRunBench(.episodes(1)) { bench in
                    #expect(try await bench.run(knownLibraries: knownLibraries(in: folder)).summary.fetched == 1)
                    try files.removeItem(at: folder.appending(path: "notes"))
                    let file = knownLibraries(in: folder).file(of: bench.library + "-other")
                    try files.createDirectory(
                        atPath: folder.path + "/notes", withIntermediateDirectories: false)
                    try Data("seen\nmount".utf8).write(to: URL(filePath: file))
                    try await knownLibraries(in: folder).requireMounted(bench.library + "-other")
                }
                let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                #expect(KnownLibraries(environment: ["XDG_STATE_HOME": "relative"], logger: logger) == nil)
                #expect(
                    KnownLibraries(environment: ["HOME": "/h"], logger: logger)?.file(of: "/L")
                        .hasPrefix("/h/.local/state/booksync/libraries/") == true)
                #expect(
                    KnownLibraries(environment: ["HOME": "/h", "XDG_STATE_HOME": "/s"], logger: logger)?.file(of: "/L")
                        .hasPrefix("/s/booksync/libraries/") == true)
            }
        }

        @Test(.needsMounting)
        func `case 37: a library without room for another file is refused before the first request`() async throws {
            try await withSmallDisk(kilobytes: 20_000) { folder, disk in
                try await withRunBench(.episodes(1), library: folder) { bench in
                    #expect(try await bench.run().summary.fetched == 1)
                    let asked = bench.server.record.requests.count
                    try disk.allow(newFiles: 0)
                    let failure = try await #require(throws: Failure.self) { try await bench.run() }
                    #expect(failure.kind == .libraryUnwritable)
                    #expect(failure.remedy?.description.contains("make room") == true)
                    #expect(bench.server.record.requests.count == asked)
                }
            }
        }
    }
#endif
