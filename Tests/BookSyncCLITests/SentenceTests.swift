import BookModel
import BookSync
import Foundation
import Testing

@testable import BookSyncCLI

@Suite struct SentenceTests {
    private static let book = BookIdentity(source: "demo", id: "30776")
    private static let episode = EpisodeIdentity(book: book, key: "7")

    @Test func `the summary names what happened and nothing else`() {
        var summary = RunSummary()
        summary.books = ["30776 回到古代当兽医"]
        summary.seconds = 41
        #expect(summary.sentence.description == "30776 回到古代当兽医: 0 fetched in 41 s")
        summary.fetched = 12
        summary.bytesReceived = 118_900_000
        summary.resumed = 3
        summary.kept = 488
        summary.locked = 2
        summary.failed = 1
        #expect(
            summary.sentence.description
                == "30776 回到古代当兽医: 12 fetched (118.9 MB), 3 resumed, 488 kept, 2 locked, 1 failed in 41 s")
        summary.books.append("40111 夜航船")
        #expect(summary.sentence.description.hasPrefix("2 books: 12 fetched"))
        #expect(RunSummary().sentence.description == "nothing: 0 fetched in 0 s")
    }

    @Test func `nothing fetched is said only where nothing else was brought`() {
        func sentence(_ change: (inout RunSummary) -> Void) -> String {
            var summary = RunSummary()
            change(&summary)
            return summary.sentence.description
        }
        #expect(
            sentence {
                ($0.resumed, $0.bytesReceived) = (4, 1_900_000)
            } == "nothing: 4 resumed (1.9 MB) in 0 s")
        #expect(
            sentence {
                ($0.replaced, $0.kept, $0.bytesReceived) = (2, 7, 5)
            } == "nothing: 2 replaced (5 B), 7 kept in 0 s")
        #expect(sentence { ($0.renamed, $0.adopted) = (1, 2) } == "nothing: 1 renamed, 2 adopted in 0 s")
        #expect(sentence { ($0.kept, $0.locked) = (110, 2) } == "nothing: 0 fetched, 110 kept, 2 locked in 0 s")
        #expect(
            sentence {
                ($0.failed, $0.bytesReceived, $0.bytesUnfinished) = (1, 640, 640)
            } == "nothing: 0 fetched, 1 failed, 640 B received besides in 0 s")
    }

    @Test func `what failed and is no episode is not counted among the episodes`() {
        var summary = RunSummary()
        (summary.fetched, summary.kept, summary.failed) = (2, 3, 5)
        (summary.failedCatalogs, summary.failedOtherwise) = (3, 1)
        #expect(summary.sentence.description == "nothing: 2 fetched, 3 kept, 1 failed, 3 catalogs not read in 0 s")
        // Nor is what was not asked for.
        summary.filtered = 2
        #expect(summary.sentence.description == "nothing: 2 fetched, 3 kept, 1 failed, 3 catalogs not read in 0 s")
    }

    @Test func `bytes received besides are told apart from those of the files fetched`() {
        var summary = RunSummary()
        (summary.fetched, summary.left, summary.bytesReceived) = (12, 98, 7_400_000)
        summary.bytesUnfinished = 1_600_000
        #expect(
            summary.sentence.description
                == "nothing: 12 fetched (5.8 MB), 98 left for the next run, 1.6 MB received besides in 0 s")
    }

    @Test func `a finished episode leaves a line with its remarks`() {
        let file = LocalFile(
            episode: Self.episode, path: "a/007 b.mp3", size: 290_639, sha256: "", modificationTime: 0, inode: 1,
            fetchedAt: .distantPast, verification: .length)
        let receipt = TransferReceipt(
            outcome: .resumed, section: 7, name: "b", file: file, bytesReceived: 1, bytesReused: 2, seconds: 1,
            remarks: ["the catalog says 1 byte"])
        #expect(
            SyncEvent.finished(receipt).sentence(isVerbose: false)?.description
                == "resumed a/007 b.mp3 (290.6 kB); the catalog says 1 byte")
    }

    @Test func `beginnings are told only to those who want to know more`() {
        var progress = TransferProgress(
            episode: Self.episode, section: 7, name: "第7集", path: "", bytesDone: 0, bytesReused: 0, total: nil)
        #expect(SyncEvent.started(progress).sentence(isVerbose: false)?.description == nil)
        #expect(SyncEvent.started(progress).sentence(isVerbose: true)?.description == "第7集: begun")
        progress.bytesReused = 2000
        #expect(SyncEvent.started(progress).sentence(isVerbose: true)?.description == "第7集: going on from 2.0 kB")
        #expect(SyncEvent.progressed(progress).sentence(isVerbose: true)?.description == nil)
    }

    @Test func `a failure is told whole, also to those who want quiet`() {
        let failure = Failure(.temporary, what: "Book, episode 7 'b'", why: "cut", remedy: "try again")
        let event = SyncEvent.failed(FailureReport(failure: failure))
        #expect(
            event.sentence(isVerbose: false)?.description == "failed: Book, episode 7 'b': cut; try again")
        #expect(event.isFailure)
        #expect(!SyncEvent.notice("n").isFailure)
        #expect(SyncEvent.notice("n").sentence(isVerbose: false)?.description == "n")
    }
}
