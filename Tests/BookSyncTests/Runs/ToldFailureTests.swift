#if os(Linux)
    import BookModel
    import Support
    import Testing

    @testable import BookSync

    @Suite(.limitedConcurrency, .enabled(if: SmallDisk.canBeMounted, "mounting a tmpfs takes the rights of root"))
    struct ToldFailureTests {
        @Test func `a run that a full disk ends before any transfer begins says so`() async throws {
            try await withTemporaryFolder { (folder: String) in
                let disk = try SmallDisk.mount(at: folder, kilobytes: 1200)
                defer { disk.unmount() }
                try await withRunBench(ScriptedCatalog.episodes(12, bytes: 300_000), jobs: 3, library: folder) {
                    bench in
                    try await bench.run()
                    bench.events.update { $0 = [] }
                    let again: RunReport
                    do {
                        again = try await bench.run()
                    } catch let failure as Failure {
                        // The run before could not record a file that it had put in its place, nor can this one: the
                        // command tells what is thrown.
                        #expect(failure.kind == .inputOutput)
                        return
                    }
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
