import BookModel
import Testing

@testable import SyncPlanner

/// Which files that nobody recorded are looked into, and whose they are.
@Suite struct FileRecognitionTests {
    private let wanted = "Book/7.mp3"
    private let episode = Situation()

    /// `adopt 7 Book/7.mp3`, and the files that would have to be read first.
    private func plan(
        _ situations: [Situation], filter: EpisodeFilter = .init(), examined: Bool = true
    ) throws -> (outline: [String], examinations: [String: ProbeDepth]) {
        var input = try input(situations, filter: filter)
        for (path, facts) in input.files where examined {
            input.examined[path] = ExaminedFile(facts: facts, beginning: .audio, digests: [.sha256: "ab"])
        }
        let (plan, examinations, _) = makeProvisionalPlan(for: input)
        return (plan.outline, examinations)
    }

    /// Recorded as `Book/old.mp3`, and no longer there.
    private var lost: Situation { episode.fetched(at: "Book/old.mp3").standing(at: "Book/old.mp3", nil) }

    @Test(arguments: [
        (["Book/7.mp3", "Other/old.mp3"], "Book/7.mp3"), (["Other/old.mp3", "Book/a.mp3"], "Other/old.mp3"),
        (["Book/z.mp3", "A/a.mp3"], "Book/z.mp3"), (["B/1.mp3", "A/1.mp3"], "A/1.mp3"),
    ])
    func `of copies that are all alike one is followed: wanted, then by its name, then by its folder`(
        copies: [String], followed: String
    ) throws {
        let disk = copies.enumerated().reduce(lost) { $0.standing(at: $1.1, facts(time: 60, inode: UInt64(90 + $1.0))) }
        #expect(try plan([disk]).outline == ["adopt 7 \(followed)"])
    }

    @Test(arguments: [
        // What a later run put there, what the user changed, and what somebody else put there.
        (mark: "cd", digest: "cd", size: 1200, isTaken: true), ("cd", "ef", 1200, false), ("ab", "ef", 1200, false),
        ("cd", "cd", 1300, false), (nil, "cd", 1200, false),
    ])
    func `a file that a run put in the recorded one's place, and could not record, is recorded`(
        mark: String?, digest: String, size: Int64, isTaken: Bool
    ) throws {
        let disk = episode.fetched().size(1200).standing(at: wanted, facts(size: size, time: 60, inode: 9))
        var input = try input([disk])
        let asked = makeProvisionalPlan(for: input).examinations
        #expect(asked == (size == 1200 ? [wanted: .beginning] : [:]))
        let identity = disk.shelved.episode.identity
        input.examined[wanted] = ExaminedFile(
            facts: facts(size: size), beginning: .audio, digests: [.sha256: digest],
            mark: mark.map { FileMark(episode: identity, sha256: $0) })
        #expect(makePlan(for: input).outline == [isTaken ? "adopt 7 \(wanted)" : "skip changed 7 \(wanted)"])
    }

    @Test func `a later version with embedded tags is compared by the size that it was fetched with`() throws {
        let disk = episode.fetched().size(1200).standing(at: wanted, facts(size: 1300, time: 60, inode: 9))
        var input = try input([disk])
        let original = LocalFile.Original(size: 1200, sha256: "cd", streamSHA256: "01")
        input.examined[wanted] = ExaminedFile(
            facts: facts(size: 1300), beginning: .audio, digests: [.sha256: "ef"],
            mark: FileMark(
                episode: disk.shelved.episode.identity, sha256: "ef", original: FileMark.Original(original)))
        #expect(makePlan(for: input).outline == ["adopt 7 \(wanted)"])
    }

    @Test func `a file of the wanted size is looked into, whatever its name says, and taken for what its mark says`()
        throws
    {
        let path = "Book/mine 2 003.mp3"
        var input = try input([episode.standing(at: path, facts())])
        #expect(makeProvisionalPlan(for: input).examinations == [path: .beginning])
        input.examined[path] = marked
        input.examined[path]?.digests = [:]
        #expect(makeProvisionalPlan(for: input).examinations == [path: .whole([.sha256])])
        input.examined[path] = marked
        #expect(makePlan(for: input).outline == ["adopt 7 \(path)"])
    }

    private var marked: ExaminedFile {
        ExaminedFile(
            facts: facts(), beginning: .audio, digests: [.sha256: "ab"],
            mark: FileMark(episode: episode.shelved.episode.identity, sha256: "ab"))
    }

    @Test func `of files that bear the episode's mark the first by its path is taken`() throws {
        let copies = (100..<200).map { "A/\($0).mp3" }
        var input = try input([copies.reduce(episode) { $0.standing(at: $1, facts()) }])
        for path in copies { input.examined[path] = marked }
        #expect(makePlan(for: input).outline == ["adopt 7 A/100.mp3"])
    }

    @Test func `the server is asked for a length where a marked file has another than the catalog says`() throws {
        let renewed = episode.size(1200)
        for (situation, isAsked) in [(episode, false), (renewed, true), (renewed.locked(), false)] {
            var input = try input([situation.standing(at: "Book/a.mp3", facts())])
            input.examined["Book/a.mp3"] = marked
            #expect(makeProvisionalPlan(for: input).lengths == (isAsked ? ["id7"] : []))
        }
    }

    @Test func `a file that bears the mark of another book's episode is not taken, unless this book lists it too`()
        throws
    {
        var input = try input([episode.standing(at: "Book/7 other.mp3", facts())])
        for (key, isTaken) in [("other", false), (episode.shelved.episode.identity.key, true)] {
            let other = EpisodeIdentity(book: BookIdentity(source: "kting", id: "1"), key: key)
            input.examined["Book/7 other.mp3"] = ExaminedFile(
                facts: facts(), beginning: .audio, digests: [.sha256: "ab"],
                mark: FileMark(episode: other, sha256: "ab"))
            #expect(makePlan(for: input).outline == [isTaken ? "adopt 7 Book/7 other.mp3" : "fetch 7 \(wanted)"])
        }
    }

    @Test func `a moved file is the same without being read only by inode, size and time together`() throws {
        #expect(try plan([lost.standing(at: "Book/a.mp3", facts())], examined: false).outline == ["adopt 7 Book/a.mp3"])
        for other in [facts(time: 51), facts(inode: 8)] {
            let asked = try plan([lost.standing(at: "Book/a.mp3", other)], examined: false)
            #expect(asked.outline == ["fetch 7 \(wanted)"])
            #expect(asked.examinations == ["Book/a.mp3": .whole([])])
        }
        #expect(
            try plan([lost.standing(at: "Book/a.mp3", facts(size: 999))], examined: false).outline
                == ["fetch 7 \(wanted)"])
    }

    @Test func `a file in an episode's place is read as far as the catalog has something to compare with`() throws {
        var situation = episode.standing(at: wanted, facts(inode: 99))
        #expect(try plan([situation], examined: false).examinations == [wanted: .beginning])
        situation.shelved.episode.digest = ContentDigest(algorithm: .md5, hexadecimal: "aa")
        #expect(try plan([situation], examined: false).examinations == [wanted: .whole([.md5])])
    }

    @Test func `no file is read for an episode that is gone, removed or not asked for`() throws {
        let placed = episode.standing(at: wanted, facts(inode: 99))
        for (situation, outline) in [(placed.gone(), "skip gone"), (placed.removed(), "skip tombstone")] {
            let plan = try plan([situation], examined: false)
            #expect(plan.outline == ["\(outline) 7 \(wanted)"])
            #expect(plan.examinations.isEmpty)
        }
        let filtered = try plan([placed], filter: EpisodeFilter(only: SectionRanges([1...6])), examined: false)
        #expect(filtered.outline == ["skip filtered 7 \(wanted)"])
        #expect(filtered.examinations.isEmpty)
    }

    @Test(arguments: [
        ("Book/07 x.mp3", true), ("Book/.07.mp3", false), ("Elsewhere/07 x.mp3", false), ("Book/deeper/07.mp3", false),
        (".booksync/partial/07.mp3", false), ("Book/.booksync-07.mp3", false), ("Book/08 x.mp3", false),
    ])
    func `a file is searched for in the book's own folders, among what is neither hidden nor booksync's`(
        path: String, isTaken: Bool
    ) throws {
        let plan = try plan([episode.standing(at: path, facts(inode: 99))])
        #expect(plan.outline == [isTaken ? "adopt 7 \(path)" : "fetch 7 \(wanted)"])
    }

    @Test func `a file that another downloader has not finished is not taken, nor an empty one`() throws {
        let unfinished = episode.standing(at: wanted, facts(inode: 99))
            .standing(at: wanted + ".aria2", facts(size: 50, inode: 100))
        #expect(try plan([unfinished]).outline == ["skip obstructed 7 \(wanted)"])
        let empty = episode.size(0).standing(at: wanted, facts(size: 0, inode: 99))
        #expect(try plan([empty]).outline == ["skip obstructed 7 \(wanted)"])
    }
}
