import BookModel
import CatalogStore
import Foundation
import Logging
import Support
import Testing

@testable import BookSync

@Suite(.limitedConcurrency) struct ShelfExplanationTests {
    private func explain(_ sections: ClosedRange<Int>, _ bench: RunBench) async throws -> [EpisodeExplanation] {
        try await bench.configuration.explain(
            RunBench.book, filter: EpisodeFilter(only: SectionRanges([sections])),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test func `what is stored and what stands on disk explains an episode, and nobody is asked`() async throws {
        try await withRunBench(.episodes(5)) { bench in
            bench.catalog.update { catalog in
                catalog.elements[3].path = nil
                catalog.audio["/audio/5.mp3"] = .always(.notFound)
            }
            try await bench.run()
            _ = try await bench.verify(bench.sections(1...1))
            try FileManager.default.removeItem(atPath: try await bench.path(2))
            try flipBit(of: try await bench.path(3), at: 1, isSeen: true)
            let requests = bench.server.record.requests.count
            let explained = try await explain(1...5, bench)
            #expect(explained.map(\.shelved.episode.section) == [1, 2, 3, 4, 5])
            let paragraphs = explained.map(\.paragraph.description)
            #expect(paragraphs[0].contains("It was fetched from \(bench.server.address("/audio/1.mp3")) on "))
            #expect(paragraphs[0].contains("booksync verify last found it right on "))
            #expect(paragraphs[0].hasPrefix("Book, episode 1 '第1集' (kting:30776/1): nothing to do: on disk."))
            #expect(paragraphs[1].contains("nothing stands there now"))
            #expect(paragraphs[1].contains("would fetch it (40.0 kB)"))
            #expect(paragraphs[2].contains("touched since then"))
            #expect(paragraphs[3].contains("so it is locked") && paragraphs[3].contains("would not fetch it: locked"))
            #expect(paragraphs[4].contains("It failed once, the last time because: "))
            #expect(bench.server.record.requests.count == requests)
        }
    }

    @Test func `what mirror follows is explained as mirror would do it`() async throws {
        try await withRunBench(.episodes(3)) { bench in
            try await bench.run()
            try await bench.withStore { store in
                _ = try await store.subscribe(
                    Subscription(book: RunBench.book, title: "Book", filter: EpisodeFilter(latest: 1)))
            }
            try FileManager.default.removeItem(atPath: try await bench.path(1))
            let explained = try await explain(1...1, bench)
            #expect(
                explained.first?.paragraph.description.contains("would not fetch it: not asked for (latest 1).") == true
            )
        }
    }

    @Test func `a section that is not there is said to be none`() async throws {
        try await withRunBench(.episodes(1)) { bench in
            await #expect(throws: Failure.self) { try await explain(1...1, bench) }
            try await bench.run()
            await #expect(throws: Failure.self) { try await explain(7...7, bench) }
        }
    }
}
