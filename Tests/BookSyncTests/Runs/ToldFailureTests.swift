import LibraryFiles
import Support

#if os(Linux)
    import BookModel
    import Foundation
    import Testing

    @testable import BookSync

    @Suite(.limitedConcurrency, .needsMounting)
    struct ToldFailureTests {
        @Test func `a run that a full disk ends before any transfer begins says so`() async throws {
            try await withSmallDisk(kilobytes: 1200) { folder, disk in
                try await withRunBench(ScriptedCatalog.episodes(12, bytes: 300_000), jobs: 3, library: folder) {
                    bench in
                    try await bench.run()
                    // The store has room now, and no episode has.
                    for name in try bench.partialNames() {
                        let folder = LibraryFolder.existing(at: bench.library).partialFolder
                        try FileManager.default.removeItem(atPath: folder + "/" + name)
                    }
                    try disk.resize(kilobytes: 2000)
                    try Data(count: try disk.free() - 250_000).write(to: URL(filePath: folder + "/ballast"))
                    bench.events.update { $0 = [] }
                    let again = try await bench.run()
                    var told: [Failure] = []
                    for case .failed(let report) in bench.events.value { told.append(report.failure) }
                    #expect(!again.failures.isEmpty)
                    #expect(told == again.failures)
                    #expect(again.summary.failed == told.count)
                }
            }
        }
    }
#endif
