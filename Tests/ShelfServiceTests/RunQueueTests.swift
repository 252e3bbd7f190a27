import BookModel
import BookSync
import Foundation
import Logging
import Settings
import ShelfQueries
import Support
import Testing

@testable import ShelfService

@Suite(.limitedConcurrency) struct RunQueueTests {
    @Test func `a run that fails before the library can record it is told among the runs`() async throws {
        try await withTemporaryPath { folder in
            var configuration = Configuration.builtIn
            configuration.library = folder + "/unmounted/L"
            let (failures, failed) = AsyncStream.makeStream(of: Failure.self)
            let desk = RunQueue(
                configuration, knownLibraries: nil, logger: Logger(label: "test"),
                runner: RunQueue.Runner(
                    execute: { _, _, _, _, _ in
                        Issue.record("nothing can be executed")
                        return RunReport()
                    },
                    withCatalogs: { configuration, _, body in try await body(configuration) },
                    onFailure: { failed.yield($0) }, exitCode: { $0.kind == .libraryUnwritable ? 73 : 70 },
                    onWaiting: { _ in }))
            let working = Task { await desk.work() }
            await desk.mirror()
            let failure = try #require(await failures.first { _ in true })
            let run = try #require(try await ServedShelf(configuration, desks: [desk]).runs(last: 5).runs.first)
            #expect(run.state == .ended && run.record.command == "mirror" && run.record.exitCode == 73)
            #expect(run.record.error == failure.message)
            working.cancel()
            await working.value
        }
    }
}
