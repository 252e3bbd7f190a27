import BookSync
import Support

#if os(Linux)
    import BookModel
    import CatalogStore
    import DownloadEngine
    import Foundation
    import Testing

    /// Case 36 of the download cases, on a disk that really is full.
    @Suite(.limitedConcurrency, .needsMounting)
    struct FullDiskTests {
        private static func catalog(stallingUntil gate: Gate? = nil) -> ScriptedCatalog {
            var catalog = ScriptedCatalog.episodes(12, bytes: 300_000)
            guard let gate else { return catalog }
            for section in 1...12 {
                catalog.audio["/audio/\(section).mp3"] = .file(
                    ScriptedCatalog.bytes(section, 300_000), [.stall(at: 150_000, until: gate), .wellBehaved])
            }
            return catalog
        }

        /// Bytes that the store of the library takes, with its log.
        private static func storeBytes(in library: String) throws -> Int {
            let folder = library + "/.booksync/"
            let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("store") }
            return try names.reduce(0) { try $0 + Data(contentsOf: URL(filePath: folder + $1)).count }
        }

        @Test(arguments: [1, 3])
        func `case 36: a disk that others fill stops the run, and the next one goes on once there is room`(
            jobs: Int
        ) async throws {
            try await withSmallDisk(kilobytes: 8000) { folder, disk in
                let gate = Gate()
                let catalog = Self.catalog(stallingUntil: gate)
                try await withRunBench(catalog, jobs: jobs, library: folder) { bench in
                    let run = Task { try await bench.run() }
                    for section in 1...jobs { try await bench.waitUntilHeld(150_000, of: section) }
                    try Data(repeating: 0, count: try disk.free() - 100_000).write(
                        to: URL(filePath: folder).appending(path: "filler"))
                    gate.open()
                    let first = try await run.value
                    #expect(first.failures.contains { $0.kind == .inputOutput }, "\(first.failures)")
                    #expect(first.failures.contains { $0.description.contains("full") }, "\(first.failures)")
                    #expect(first.summary.fetched == 0)
                    // What cannot be written ends the run: no further episode is asked for.
                    #expect(bench.audioRequests.count == jobs)
                    #expect(try bench.partialNames() != [])

                    try disk.resize(kilobytes: 16_000)
                    let second = try await bench.run()
                    #expect(second.failures.isEmpty, "\(second.failures)")
                    #expect(second.summary.resumed >= 1)
                    #expect(second.summary.bytesReused > 0)
                    for section in 1...12 {
                        #expect(try await bench.bytes(section) == ScriptedCatalog.bytes(section, 300_000))
                    }
                    // Received again is at most what was on its way when there was no room for it.
                    let received = first.summary.bytesReceived + second.summary.bytesReceived
                    #expect(received <= 3_600_000 + Int64(jobs) * 262_144)
                    #expect(try await bench.run().summary.kept == 12)
                }
            }
        }

        @Test(arguments: [1, 3])
        func `case 36: what a small disk has room for is fetched whole, also where nothing is to stay free`(
            jobs: Int
        ) async throws {
            try await withSmallDisk(kilobytes: 3000) { folder, disk in
                try await withRunBench(Self.catalog(), jobs: jobs, library: folder) { bench in
                    let first = try await bench.run()
                    #expect(first.failures.count == 1 && first.failures.allSatisfy(\.isLackOfRoom), "\(first.failures)")
                    // What is 0 cannot be lowered.
                    #expect(first.failures.first?.remedy?.description.hasPrefix("make room and run again") == true)
                    #expect((1..<9).contains(first.summary.fetched), "\(first.summary)")
                    #expect(try bench.partialNames() == [])
                    // One may be refused by what its server declares, when the store has grown meanwhile.
                    let refused = bench.audioRequests.count - first.summary.fetched
                    #expect((0...1).contains(refused))
                    try disk.resize(kilobytes: 8000)
                    #expect(try await bench.run().failures.isEmpty)
                    #expect(bench.audioRequests.count == 12 + refused)
                }
            }
        }

        @Test func `case 36: no room for a folder stops the run at its publication, and nothing is fetched again`()
            async throws
        {
            try await withSmallDisk(kilobytes: 20_000) { folder, disk in
                try await withRunBench(ScriptedCatalog.episodes(3), jobs: 1, library: folder) { bench in
                    // What a library has of its own is there; the book's folder is not.
                    try await bench.run(limits: RunLimits(episodes: 0))
                    // For a partial file, and for what the store has beside it while it is open.
                    try disk.allow(newFiles: 3)
                    let first = try await bench.run()
                    #expect(first.failures.contains { $0.kind == .inputOutput && $0.isLackOfRoom }, "\(first.failures)")
                    #expect(first.summary.fetched == 0)
                    #expect(try bench.partialNames().count == 1)
                    #expect(bench.audioRequests.count == 1)

                    try disk.allow(newFiles: 100)
                    let second = try await bench.run()
                    #expect(second.failures.isEmpty, "\(second.failures)")
                    #expect(bench.audioRequests.count == 3)
                    for section in 1...3 { #expect(try await bench.bytes(section) == ScriptedCatalog.bytes(section)) }
                }
            }
        }

        @Test func `case 36: a store without room ends the run, and what is there stays`() async throws {
            try await withSmallDisk(kilobytes: 8000) { folder, disk in
                try await withRunBench(ScriptedCatalog.episodes(2), library: folder) { bench in
                    try await bench.run()
                    bench.catalog.update { $0 = ScriptedCatalog.episodes(400, bytes: 1000) }
                    let ballast = folder + "/ballast"
                    try Data(count: try disk.free()).write(to: URL(filePath: ballast))
                    var failures: [Failure] = []
                    do {
                        failures = try await bench.run().failures
                    } catch let failure as Failure {
                        failures = [failure]
                    }
                    #expect(failures.contains { $0.kind == .inputOutput && $0.isLackOfRoom }, "\(failures)")
                    #expect(bench.audioRequests.count == 2)

                    try FileManager.default.removeItem(atPath: ballast)
                    bench.catalog.update { $0 = ScriptedCatalog.episodes(3) }
                    let next = try await bench.run()
                    #expect(next.failures.isEmpty, "\(next.failures)")
                    #expect(next.summary.fetched == 1 && next.summary.kept == 2)
                    for section in 1...3 { #expect(try await bench.bytes(section) == ScriptedCatalog.bytes(section)) }
                }
            }
        }

        @Test(arguments: [true, false])
        func `case 36: what was removed is the first to go, where that is enough`(isEnough: Bool) async throws {
            try await withSmallDisk(kilobytes: 20_000) { folder, disk in
                var catalog = ScriptedCatalog.episodes(4, bytes: 2_000_000)
                let last = catalog.elements.removeLast()
                try await withRunBench(catalog, jobs: 1, library: folder, minFreeSpace: 1_500_000) { bench in
                    #expect(try await bench.run().summary.fetched == 3)
                    let removal = try await bench.control {
                        try await $0.remove(bench.sections(1...(isEnough ? 2 : 1)))
                    }
                    #expect(removal.files == (isEnough ? 2 : 1))
                    // The fourth lacks a megabyte of its two, or more than the two that the trash holds.
                    let room = isEnough ? 2_500_000 : 1_200_000
                    try Data(count: try disk.free() - room).write(to: URL(filePath: folder + "/ballast"))
                    bench.catalog.update { $0.elements.append(last) }
                    let report = try await bench.run()
                    let trashed = try await bench.withStore { try await $0.trashedFiles().count }
                    #expect(report.failures.isEmpty == isEnough, "\(report.failures)")
                    #expect(report.summary.fetched == (isEnough ? 1 : 0))
                    #expect(trashed == 1, "no more than is needed goes")
                    #expect(
                        bench.notices.contains { $0.contains("1 file deleted from the trash (2.0 MB)") } == isEnough)
                    #expect(try await bench.bytes(3) == ScriptedCatalog.bytes(3, 2_000_000))
                }
            }
        }

        @Test func `case 36: nothing is deleted for a size that only the catalog believes`() async throws {
            try await withSmallDisk(kilobytes: 20_000) { folder, disk in
                var catalog = ScriptedCatalog.episodes(3, bytes: 2_000_000)
                var last = catalog.elements.removeLast()
                // Large enough not to be taken for a stub.
                catalog.audio["/audio/3.mp3"] = .file(ScriptedCatalog.bytes(3, 1_000_000))
                last.size = 14_000_000
                try await withRunBench(catalog, jobs: 1, library: folder, minFreeSpace: 1_500_000) { bench in
                    #expect(try await bench.run().summary.fetched == 2)
                    #expect(try await bench.control { try await $0.remove(bench.sections(1...2)) }.files == 2)
                    let room = 12_000_000
                    try Data(count: try disk.free() - room).write(to: URL(filePath: folder + "/ballast"))
                    bench.catalog.update { $0.elements.append(last) }
                    let report = try await bench.run()
                    #expect(report.failures.isEmpty && report.summary.fetched == 1, "\(report.failures)")
                    #expect(try await bench.withStore { try await $0.trashedFiles().count } == 2)
                }
            }
        }

        @Test(arguments: [1, 3])
        func `case 36: what is to stay free stays free, and what is missing is told`(jobs: Int) async throws {
            try await withSmallDisk(kilobytes: 20_000) { folder, disk in
                try await withRunBench(
                    ScriptedCatalog.episodes(12, bytes: 300_000), jobs: jobs, library: folder, minFreeSpace: 1_500_000
                ) { bench in
                    let ballast = folder + "/ballast"
                    let room = 1_500_000 + 5 * 300_000
                    try Data(count: try disk.free() - room).write(to: URL(filePath: ballast))
                    let first = try await bench.run()
                    #expect(first.failures.map(\.kind) == [.inputOutput], "\(first.failures)")
                    let failure = try #require(first.failures.first)
                    #expect(failure.isLackOfRoom && failure.description.contains("1.5 MB are to stay free"))
                    #expect(failure.remedy?.description.contains("lower downloads.min-free-space") == true)
                    // What was begun had room, so it was brought to its end. The store and its log take of the room as well.
                    #expect((1...4).contains(first.summary.fetched), "\(first.summary)")
                    #expect(bench.audioDownloads == first.summary.fetched)
                    #expect(try bench.partialNames() == [])
                    // The store grows while transfers that had room go on.
                    #expect(try disk.free() + Self.storeBytes(in: folder) >= 1_500_000)
                    let told = bench.notices
                    #expect(
                        told.contains { $0.contains("more are to come") && $0.contains("make room for") }, "\(told)")

                    // Nothing fits any more: how long a file is may be asked, and no audio at all.
                    let asked = bench.audioDownloads
                    try Data(count: max(0, try disk.free() - 1_500_000)).write(to: URL(filePath: folder + "/more"))
                    let second = try await bench.run()
                    #expect(second.summary.fetched == 0 && second.failures.count == 1)
                    #expect(bench.audioDownloads == asked)
                    #expect(bench.audioRequests.count - asked <= 2 * jobs)

                    try FileManager.default.removeItem(atPath: ballast)
                    let third = try await bench.run()
                    #expect(third.failures.isEmpty, "\(third.failures)")
                    #expect(third.summary.kept + third.summary.fetched == 12)
                    #expect(bench.audioDownloads == 12)
                }
            }
        }

        @Test func `a file too large for the disk keeps none of the others from being fetched`() async throws {
            try await withSmallDisk(kilobytes: 20_000) { folder, _ in
                var catalog = ScriptedCatalog.episodes(4, bytes: 300_000)
                catalog.elements[1].size = 40_000_000
                catalog.audio["/audio/2.mp3"] = .file(ScriptedCatalog.bytes(2, 40_000_000))
                try await withRunBench(catalog, jobs: 1, library: folder, minFreeSpace: 1_500_000) { bench in
                    let report = try await bench.run()
                    #expect(report.summary.fetched == 3)
                    #expect(report.failures.map(\.isLackOfRoom) == [true], "\(report.failures)")
                    #expect(bench.audioDownloads == 3)
                }
                // Nor does it use up what a run may begin.
                catalog.elements.swapAt(0, 1)
                (catalog.elements[0].section, catalog.elements[1].section) = (1, 2)
                try await withRunBench(catalog, jobs: 4, library: folder + "/L", minFreeSpace: 1_500_000) { bench in
                    let report = try await bench.run(limits: RunLimits(episodes: 1))
                    #expect(report.summary.fetched == 1)
                    #expect(bench.audioDownloads == 1)
                }
            }
        }

        @Test(
            arguments: [
                (nil, .framing(.untilClose), 0, "declares no length, and the disk has no room"),
                (300_000, .wellBehaved, 1_500_000, "40.0 MB are to come"),
            ] as [(Int?, Deed, Int64, String)])
        func `case 36: what the server sends or declares, and the disk cannot hold, is that episode's failure`(
            size: Int?, deed: Deed, minFreeSpace: Int64, sentence: String
        ) async throws {
            try await withSmallDisk(kilobytes: 20_000) { folder, disk in
                var catalog = ScriptedCatalog.episodes(3, bytes: 300_000)
                catalog.elements[1].size = size
                catalog.audio["/audio/2.mp3"] = .file(ScriptedCatalog.bytes(2, 40_000_000), [deed])
                try await withRunBench(catalog, jobs: 1, library: folder, minFreeSpace: minFreeSpace) { bench in
                    let report = try await bench.run()
                    #expect(report.summary.fetched == 2 && report.summary.failed == 1, "\(report.failures)")
                    let failure = try #require(report.failures.first)
                    #expect(failure.kind == .inputOutput && failure.description.contains(sentence), "\(failure)")
                    #expect(try bench.partialNames() == [])
                    #expect(try disk.free() > 15_000_000)
                }
            }
        }

        @Test func `case 36: on a full disk the shelf can be looked at, and a transfer be cancelled`() async throws {
            try await withSmallDisk(kilobytes: 20_000) { folder, disk in
                var catalog = ScriptedCatalog.episodes(2, bytes: 300_000)
                catalog.audio["/audio/1.mp3"] = .file(
                    ScriptedCatalog.bytes(1, 300_000),
                    [.change { reply, _ in reply.ending = .cutAfter(bytes: 200_000) }, .wellBehaved])
                try await withRunBench(catalog, jobs: 1, library: folder) { bench in
                    #expect(try await bench.run().summary.failed == 1)
                    #expect(try bench.partialNames().count == 1)
                    try Data(count: try disk.free()).write(to: URL(filePath: folder + "/ballast"))
                    #expect(try disk.free() == 0)
                    let books = try await ShelfReader.read(folder) { try await $0.books() }
                    #expect(books?.first?.present == 1)
                    #expect(try await bench.plan()?.totals.resume == 1)
                    #expect(try await TransferControl.cancel(.everything, in: folder) == 1)
                    #expect(try bench.partialNames() == [])
                    #expect(try disk.free() > 100_000)
                    try FileManager.default.removeItem(atPath: folder + "/ballast")
                    #expect(try await bench.run().summary.fetched == 1)
                }
            }
        }

        @Test func `case 36: of a small disk only a tenth has to stay free`() async throws {
            try await withSmallDisk(kilobytes: 8000) { folder, disk in
                let catalog = ScriptedCatalog.episodes(30, bytes: 300_000)
                try await withRunBench(catalog, jobs: 2, library: folder, minFreeSpace: 500_000_000) { bench in
                    let report = try await bench.run()
                    #expect(report.failures.map(\.isLackOfRoom) == [true], "\(report.failures)")
                    #expect((18...23).contains(report.summary.fetched), "\(report.summary)")
                    #expect(try disk.free() >= 8000 * 1024 / 10)
                }
            }
        }

        @Test func `a run whose transfers have to be tried again ends when there is no room for them`() async throws {
            try await withSmallDisk(kilobytes: 20_000) { folder, disk in
                var catalog = ScriptedCatalog.episodes(2, bytes: 300_000)
                let gate = Gate()
                catalog.audio["/audio/1.mp3"] = .file(
                    ScriptedCatalog.bytes(1, 300_000), [.stall(at: 100_000, until: gate), .wellBehaved])
                try await withRunBench(catalog, jobs: 1, retries: 3, library: folder, minFreeSpace: 1_500_000) {
                    bench in
                    async let report = bench.run()
                    try await bench.waitUntilHeld(100_000, of: 1)
                    // Somebody else fills the disk meanwhile.
                    try Data(count: try disk.free() - 1_000_000).write(to: URL(filePath: folder + "/ballast"))
                    gate.open()
                    let first = try await report
                    #expect(first.failures.map(\.isLackOfRoom) == [true], "\(first.failures)")
                    try FileManager.default.removeItem(atPath: folder + "/ballast")
                    let second = try await bench.run()
                    #expect(second.failures.isEmpty, "\(second.failures)")
                    #expect(first.summary.bytesReceived + second.summary.bytesReceived == 600_000)
                }
            }
        }
    }
#endif
