import BookModel
import Foundation
import Testing

@testable import BookSync
@testable import LibraryFiles

@Suite struct FileVerdictTests {
    private static let fetchedAt = Date(timeIntervalSince1970: 2_000_000_000)

    private static let recorded = LocalFile(
        episode: EpisodeIdentity(book: BookIdentity(source: "kting", id: "1"), key: "7"), path: "Book/7.mp3",
        size: 1000, sha256: "right", modificationTime: 50, inode: 7, fetchedAt: fetchedAt, verification: .length)

    private static func look(
        size: Int64 = 1000, time: Int64 = 50, inode: UInt64 = 7, sha256: String? = "right",
        foreign: Message? = nil, isUnchanged: Bool = true
    ) -> FileCheck {
        .file(
            ExaminedFile(
                facts: FileAttributes(size: size, modificationTime: time, inode: inode, kind: .file),
                beginning: foreign.map { .foreign($0) } ?? .audio, digests: sha256.map { [.sha256: $0] } ?? [:],
                isUnchanged: isUnchanged))
    }

    private static let page: Message = "an HTML page"

    static let table: [(FileCheck, FileVerdict)] = [
        (look(), .intact),
        (look(time: 99, inode: 8), .intact),
        (look(foreign: page), .intact),
        (look(sha256: nil), .intact),
        (.nothing, .missing),
        (.other(.folder), .displaced(.folder)),
        (.other(.symbolicLink), .displaced(.symbolicLink)),
        (
            .unreadable(SystemError(code: EIO)),
            .unreadable(why: "Input/output error", isDamage: true)
        ),
        (
            .unreadable(SystemError(code: EACCES)),
            .unreadable(why: "Permission denied", isDamage: false)
        ),
        (look(size: 999, sha256: nil), .truncated(999)),
        (look(size: 0, time: 99, sha256: nil), .truncated(0)),
        (look(size: 1001, sha256: nil), .longer(1001)),
        (look(sha256: "wrong"), .bitRot),
        (look(time: 51, sha256: "wrong"), .changed),
        (look(inode: 8, sha256: "wrong"), .changed),
        (look(sha256: "wrong", foreign: page), .wrongHeader("an HTML page")),
        (look(time: 51, sha256: "wrong", foreign: page), .wrongHeader("an HTML page")),
        (look(sha256: "wrong", isUnchanged: false), .changing),
    ]

    @Test(arguments: table)
    func `a file is what its size, digest, times and beginning say`(_ look: FileCheck, _ verdict: FileVerdict) {
        #expect(FileVerdict(of: look, recorded: Self.recorded) == verdict)
    }

    @Test func `where inodes do not last, the time tells whether anybody wrote to a file`() {
        func verdict(time: Int64, recorded: Int64 = 50) -> FileVerdict {
            var file = Self.recorded
            file.modificationTime = recorded
            return FileVerdict(
                of: Self.look(time: time, inode: 8, sha256: "wrong"), recorded: file, keepsInodes: false)
        }
        #expect(verdict(time: 50) == .bitRot && verdict(time: 51) == .changed)
        // FAT keeps two seconds.
        #expect(verdict(time: 8_000_000_000, recorded: 9_700_000_000) == .bitRot)
        #expect(verdict(time: 8_000_000_000, recorded: 10_000_000_000) == .changed)
        #expect(verdict(time: 10_000_000_000, recorded: 9_700_000_000) == .changed)
        let copied = ExaminedFile(
            facts: FileAttributes(size: 1000, modificationTime: 50, inode: 8, kind: .file), beginning: .audio,
            digests: [.sha256: "wrong"], changeTime: .max)
        #expect(!copied.wasTouched(since: Self.recorded, keepsInodes: false))
    }

    @Test func `every verdict has its sentence, and only what fetching helps is fetched again`() {
        let told = Self.table.map { FileVerdict(of: $0.0, recorded: Self.recorded) }
        let sentences = Set(told.map { $0.sentence(recorded: Self.recorded).description })
        #expect(sentences.count == Set(told).count)
        #expect(sentences.contains("truncated: it had 1000 bytes when it was fetched and has 999 now"))
        #expect(sentences.contains("a folder stands in its place"))
        #expect(sentences.contains("wrong header: it begins with an HTML page where audio is to be"))
        let left = Set(told.filter { !$0.isRepairable }.map(\.keyword))
        #expect(left == ["intact", "displaced", "changing", "unreadable"])
        #expect(FileVerdict.unreadable(why: "Input/output error", isDamage: true).isRepairable)
        #expect(!FileVerdict.unreadable(why: "Permission denied", isDamage: false).isRepairable)
    }

    @Test(arguments: [
        (50, 7, 0.0, false), (50, 7, -86400, false), (51, 7, 0, true), (50, 8, 0, true),
        // Tags were edited, and the time of modification was put back.
        (50, 7, 1, true),
    ])
    func `a file was written to when its times or its inode say so`(
        time: Int64, inode: UInt64, secondsAfterFetch: Double, wasTouched: Bool
    ) {
        let changeTime = Int64((Self.fetchedAt.timeIntervalSince1970 + secondsAfterFetch) * 1_000_000_000)
        let found = ExaminedFile(
            facts: FileAttributes(size: 1000, modificationTime: time, inode: inode, kind: .file), beginning: .audio,
            digests: [.sha256: "wrong"], changeTime: changeTime)
        #expect(found.wasTouched(since: Self.recorded) == wasTouched)
    }

    @Test func `a report is summed up in one line`() {
        var report = VerificationReport(isQuick: false)
        report.bytes = 5_100_000_000
        report.intact = 510
        report.seconds = 4.2
        #expect(report.sentence.description == "510 files verified (5.1 GB): 510 intact in 4 s")
        func bad(_ verdict: FileVerdict, _ repair: VerifiedFile.Repair? = nil) -> VerifiedFile {
            VerifiedFile(section: 7, name: "x", file: Self.recorded, verdict: verdict, repair: repair)
        }
        report.bad = [
            bad(.bitRot, .repaired(keptAs: nil)), bad(.bitRot), bad(.missing, .countsAsRemoved),
            bad(.truncated(1), .left("no")),
        ]
        report.verifiedBefore = 3
        report.left = 2
        #expect(report.stillBad == 2)
        #expect(
            report.sentence.description
                == "514 files verified (5.1 GB): 510 intact, 4 bad (2 bit rot, 1 missing, 1 truncated), 1 repaired, "
                + "3 verified before the interruption, 2 left for the next verify in 4 s")
    }

    @Test func `a scope is the same text however it is named`() throws {
        let (one, other) = (BookIdentity(source: "kting", id: "1"), BookIdentity(source: "kting", id: "2"))
        let filter = EpisodeFilter(only: try SectionRanges(parsing: "1-3,7"))
        #expect(TransferControl.Scope.everything.text == "")
        #expect(
            TransferControl.Scope.books([(other, EpisodeFilter()), (one, filter)]).text == "kting:1/1-3,7 kting:2")
        #expect(
            TransferControl.Scope.books([(one, filter), (other, EpisodeFilter())]).text == "kting:1/1-3,7 kting:2")
        #expect(TransferControl.Scope.books([(one, EpisodeFilter(latest: 5))]).text == "kting:1/latest:5")
    }
}
