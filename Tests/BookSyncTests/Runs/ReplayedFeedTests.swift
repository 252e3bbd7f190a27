import BookModel
import Foundation
import Logging
import Support
import Testing

@testable import BookSync
@testable import LibraryFiles
@testable import Settings

/// Many nights of a feed whose editor changes his mind: whatever is edited, each episode is downloaded once, and none is missing.
@Suite(.full, .limitedConcurrency) struct ReplayedFeedTests {
    enum Edit: String, CaseIterable, Sendable {
        case titles, addresses, lengths, dates, guids, order
    }

    private static let nights = Tier.choose(full: 20, long: 60)

    @Test(arguments: Edit.allCases)
    func `one kind of edit over many nights`(edit: Edit) async throws { try await replay([edit]) }

    @Test func `all kinds of edits over many nights`() async throws { try await replay(Edit.allCases) }

    /// Each night has a new episode, or edits, or both. What an episode is told by does not all change in one night.
    private func replay(_ edits: [Edit]) async throws {
        var chance = SeededGenerator(seed: UInt64(edits.count) * 100 + UInt64(edits[0].rawValue.utf8.count))
        var begun = ServedFeed()
        begun.items = (1...8).reversed().map { ServedFeed.Item($0) }
        let feed = Watched(begun)
        try await withServer(ServerScript { feed.value.answer($0) }) { server in
            try await withTemporaryPath { (folder: String) in
                var configuration = Configuration.builtIn
                configuration.library = folder + "/Audiobooks"
                let book = BookIdentity(source: "feed", id: server.url("/feed.xml"))
                for night in 1...Self.nights {
                    let report = try await run(book, configuration)
                    let note: Comment = "\(edits), night \(night)"
                    #expect(report.failures.isEmpty, note)
                    let count = feed.value.items.count
                    let summary = report.summary
                    #expect(summary.fetched + summary.kept + summary.renamed == count, note)
                    #expect(report.summary.gone == 0 && report.summary.replaced == 0, note)
                    feed.update { feed in
                        if Int.random(in: 0..<3, using: &chance) == 0 {
                            feed.items.insert(ServedFeed.Item(count + 1), at: 0)
                        }
                        let chosen = edits.shuffled(using: &chance).prefix(2)
                        // Another guid of another day is another episode; and an item without a guid is told by two of title, date
                        // and address.
                        let others: [Edit] = [.titles, .addresses, .guids]
                        for edit in chosen where edit != .dates || !chosen.contains(where: others.contains) {
                            feed.apply(edit, on: night, using: &chance)
                        }
                    }
                }
                let audio = server.record.exchanges.filter { $0.request.path.hasSuffix(".mp3") && $0.bodyBytesSent > 0 }
                let downloads = Dictionary(grouping: audio) { $0.request.path.split(separator: "/").last ?? "" }
                #expect(downloads.filter { $0.value.count > 1 }.keys.sorted() == [], "downloaded twice: \(edits)")
                let files =
                    FileManager.default.enumerator(atPath: configuration.library)?.compactMap { $0 as? String } ?? []
                let digests = try files.filter { $0.hasSuffix(".mp3") && !$0.hasPrefix(".booksync/") }.map {
                    sha256(try Data(contentsOf: URL(filePath: configuration.library + "/" + $0)))
                }
                // Those of the last night are for the next one.
                let ids = downloads.keys.compactMap { Int($0.dropLast(4)) }
                #expect(digests.sorted() == ids.map { sha256(ServedFeed.audio($0)) }.sorted())
                #expect(ids.count > 8 + Self.nights / 8)
            }
        }
    }

    private func run(_ book: BookIdentity, _ configuration: Configuration) async throws -> RunReport {
        let request = try RunRequest(items: [.init(book: book)], order: .first)
        return try await LibrarySession.withLibrary(at: configuration.library, command: "test") { session in
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            return try await SyncRun(configuration: configuration, logger: logger) { _ in }.execute(
                request, in: session)
        }
    }
}

extension ServedFeed {
    fileprivate mutating func apply(
        _ edit: ReplayedFeedTests.Edit, on night: Int, using chance: inout SeededGenerator
    ) {
        // A night of spring-cleaning, or a few corrections.
        let isForAll = Int.random(in: 0..<4, using: &chance) == 0
        let variant = Int.random(in: 0..<4, using: &chance)
        if edit == .order { items = variant == 0 ? items.reversed() : items.shuffled(using: &chance) }
        for index in items.indices where isForAll || Int.random(in: 0..<5, using: &chance) == 0 {
            let id = items[index].id
            switch edit {
            case .titles:
                items[index].title =
                    ["Episode \(id)", "Serial: Episode \(id)", "EPISODE \(id)", "Episode \(id) (remastered)"][variant]
            case .addresses:
                items[index].path =
                    [
                        "/audio/\(id).mp3", "/cdn\(night)/\(id).mp3", "/v2/media/\(id).mp3",
                        "/audio/\(id).mp3?token=\(night)",
                    ][variant]
            case .lengths:
                items[index].length = [nil, Self.audio(id).count, Self.audio(id).count + night, 33][variant]
            case .dates:
                items[index].date = 1_700_000_000 + id * 86_400 + [0, 3600, 7200, 86_400 * 400][variant]
            case .guids:
                items[index].guid =
                    ["urn:episode:\(id)", nil, "https://serial.example/?p=\(id)", "v\(night)-\(id)"][variant]
            case .order: break
            }
        }
    }
}
