import BookModel
import Foundation
import Testing

@testable import BookSync

@Suite struct EpisodeExplanationTests {
    private static let noon = Date(timeIntervalSince1970: 1_795_262_400)  // 2026-11-21T12:00:00Z
    private static let identity = EpisodeIdentity(book: BookIdentity(source: "kting", id: "30776"), key: "id7")

    /// One that the catalog lists, nobody fetched, and mirror would fetch.
    private static func explanation(
        _ change: (inout EpisodeExplanation) -> Void = { _ in }
    ) -> EpisodeExplanation {
        let episode = Episode(
            identity: identity, section: 7, name: "第7集",
            address: ResourceAddress("http://me:secret@audio.example/7.mp3?token=secret&id=7"), size: 9_900_000)
        var explanation = EpisodeExplanation(
            book: Book(identity: identity.book, title: "回到古代当兽医", isComplete: true),
            shelved: EpisodeRecord(episode: episode), isFollowed: true,
            actions: [action(.fetch, "not on disk", episode, bytes: 9_900_000)])
        change(&explanation)
        return explanation
    }

    private static func action(
        _ kind: SyncAction.Kind, _ reason: Message, _ episode: Episode? = nil, bytes: Int64? = nil, from: String? = nil
    ) -> SyncAction {
        SyncAction(
            kind: kind, episode: episode ?? Episode(identity: identity, section: 7, name: "第7集"),
            path: "Book/007.mp3", fromPath: from, bytes: bytes, reason: reason)
    }

    private static let file = LocalFile(
        episode: identity, path: "Book/007.mp3", size: 1000, sha256: "ab", modificationTime: 50, inode: 7,
        fetchedAt: noon, verification: .length, fetchedFrom: "http://audio.example/7.mp3")

    private static func existingFile(size: Int64 = 1000, time: Int64 = 50, kind: FileAttributes.Kind = .file)
        -> FileAttributes
    {
        FileAttributes(size: size, modificationTime: time, inode: 7, kind: kind)
    }

    @Test func `the whole is one paragraph without secrets`() {
        let paragraph = Self.explanation { $0.catalogChangedAt = Self.noon }.paragraph.description
        #expect(
            paragraph == """
                回到古代当兽医, episode 7 '第7集' (kting:30776/7): the next mirror would fetch it (9.9 MB) to Book/007.mp3: \
                not on disk. Its id is id7; a new title or address does not matter. The catalog lists it at \
                http://audio.example/7.mp3?token=***&id=7 (the listing last changed on 2026-11-21T12:00:00Z): 9.9 MB (9900000 bytes). Nothing \
                of it is on disk.
                """)
    }

    static let table: [(String, @Sendable (inout EpisodeExplanation) -> Void, String)] = [
        ("a guid", { $0.shelved.episode.guid = "g-1" }, "Its id is id7 and its guid g-1; a new"),
        ("locked", { $0.shelved.episode.address = nil }, "lists it without an address, so it is locked: 9.9 MB"),
        ("gone", { $0.shelved.isGone = true }, "The catalog no longer lists it."),
        (
            "all that a catalog can say",
            {
                $0.shelved.episode.size = nil
                $0.shelved.episode.duration = 65
                $0.shelved.episode.publishedAt = noon
                $0.shelved.episode.digest = ContentDigest(algorithm: .md5, hexadecimal: "AB")
            }, ": no size, 1 min 5 s, published 2026-11-21T12:00:00Z, md5 ab."
        ),
        (
            "a length that no catalog declares",
            {
                $0.shelved.file = file
                $0.shelved.episode.size = nil
            }, "its length matches the one that the server declared."
        ),
        (
            "a directory", { $0.isOfDirectory = true },
            "Its id is id7, the path of its file in the directory; under another name the file is recognised by its exact"
        ),
        ("a broken listing", { $0.book.isComplete = false }, "broke off, so this may be out of date."),
        ("a partial file", { $0.partial = 5_000_000 }, "A partial file holds 5.0 MB of 9.9 MB."),
        (
            "on disk",
            {
                $0.shelved.file = file
                $0.shelved.episode.size = file.size
                $0.existingFile = existingFile()
            },
            "On disk it is Book/007.mp3, 1.0 kB as recorded. It was fetched from http://audio.example/7.mp3 on "
                + "2026-11-21T12:00:00Z; its length matches the declared one. booksync verify has not found it right since."
        ),
        (
            "touched, the listener's, verified",
            {
                $0.shelved.file = file
                $0.shelved.file?.isNamedByUser = true
                $0.existingFile = existingFile(time: 51)
                $0.verifiedAt = noon
            },
            "as recorded, touched since then. "
                + "The naming leaves that name alone: you gave it, or took its renaming back."
        ),
        (
            "verified",
            {
                $0.shelved.file = file
                $0.verifiedAt = noon
            }, "booksync verify last found it right on 2026-11-21T12:00:00Z."
        ),
        ("missing", { $0.shelved.file = file }, "Its file was Book/007.mp3, and nothing stands there now."),
        (
            "another size",
            {
                $0.shelved.file = file
                $0.existingFile = existingFile(size: 10)
            }, "Its file Book/007.mp3 had 1000 bytes when it was fetched and has 10 now."
        ),
        (
            "a folder in its place",
            {
                $0.shelved.file = file
                $0.existingFile = existingFile(kind: .folder)
            }, "Its file was Book/007.mp3, where a folder stands now."
        ),
        (
            "behind a link",
            {
                $0.shelved.file = file
                $0.isBehindLink = true
            }, "behind a symbolic link that booksync does not follow."
        ),
        (
            "adopted",
            {
                $0.shelved.file = file
                $0.shelved.file?.fetchedFrom = nil
                $0.shelved.file?.verification = .unverified
            },
            "It was fetched or recognised on 2026-11-21T12:00:00Z; there was no checksum to compare "
                + "with."
        ),
        ("removed", { $0.shelved.removedAt = noon }, "It was removed on 2026-11-21T12:00:00Z: it is not"),
        (
            "in the trash", { $0.isInTrash = true },
            "Its file is in the trash: booksync trash restore kting:30776/7 brings it back."
        ),
        (
            "another length than the catalog's",
            {
                $0.shelved.file = file
                $0.shelved.episode.size = 990
            }, "; its length matches the one that the server declared (1000 bytes), and not the catalog's (990 bytes)."
        ),
        (
            "failed",
            {
                $0.shelved.transfer = TransferRecord(
                    episode: identity, state: .failed, attempts: 3, error: "7 cannot be fetched: 404", nextTryAt: noon)
                $0.now = noon - 3600
            },
            "It failed in 3 runs, the last time because: 7 cannot be fetched: 404. It is not tried again before "
                + "2026-11-21T12:00:00Z, and longer after each run in which it fails, up to a week; --force tries it at once."
        ),
        (
            "failed, and its time has come",
            {
                $0.shelved.transfer = TransferRecord(
                    episode: identity, state: .failed, attempts: 3, error: "7 cannot be fetched: 404", nextTryAt: noon)
                $0.now = noon + 1
            },
            "the last time because: 7 cannot be fetched: 404."
        ),
        (
            "paused", { $0.shelved.transfer = TransferRecord(episode: identity, state: .paused) },
            "Its transfer is paused (booksync resume lets it go on)."
        ),
        (
            "cut off", { $0.shelved.transfer = TransferRecord(episode: identity, state: .downloading) },
            "A run that fetched it was cut off."
        ),
        (
            "under way",
            {
                $0.shelved.transfer = TransferRecord(episode: identity, state: .downloading)
                $0.isRunUnderWay = true
            }, "(kting:30776/7): a run is fetching it now."
        ),
        (
            "waiting in a mirror", { ($0.isRunUnderWay, $0.isMirrorUnderWay) = (true, true) },
            "the mirror that is under way would fetch it (9.9 MB) to Book/007.mp3: not on disk."
        ),
        (
            "while something else is fetched", { $0.isRunUnderWay = true },
            "not on disk. The run that is under way does so if it was started for it"
        ),
        (
            "not followed", { $0.isFollowed = false },
            "mirror does not follow the book; booksync fetch would fetch it (9.9 MB) to Book/007.mp3: not on disk."
        ),
        (
            "not asked for",
            {
                $0.actions = [action(.skip(.filtered), "not asked for (latest 3)")]
            }, "the next mirror would not fetch it: not asked for (latest 3)."
        ),
        (
            "a new name and a new version",
            {
                $0.actions = [
                    action(.rename, "its name changed", from: "Book/old.mp3"),
                    action(.replace, "the catalog's size changed from 1 to 2", bytes: 2),
                ]
            },
            "the next mirror would rename Book/old.mp3 to Book/007.mp3: its name changed; the next mirror would "
                + "fetch its new version (2 B) and put it in the place of Book/007.mp3: the catalog's size changed"
        ),
        ("kept", { $0.actions = [action(.keep, "on disk")] }, "(kting:30776/7): nothing to do: on disk."),
        ("no action", { $0.actions = [] }, "the next mirror would skip it."),
    ]

    @Test(arguments: table)
    func `what bears on an episode is said`(
        _ what: String, _ change: @Sendable (inout EpisodeExplanation) -> Void, _ sentence: String
    ) {
        let paragraph = Self.explanation(change).paragraph.description
        #expect(paragraph.contains(sentence), "\(what): \(paragraph)")
        #expect(!paragraph.contains("secret"))
        #expect(paragraph.hasSuffix("."))
    }
}
