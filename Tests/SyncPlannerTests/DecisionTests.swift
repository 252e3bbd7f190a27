import BookModel
import Foundation
import Testing

@testable import SyncPlanner

/// One row: a situation, what is asked for, and what is to come of it.
struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var situation: Situation
    var filter = EpisodeFilter()
    var force = false
    var kind: String
    var reason: String
    var bytes: Int64?
    var testDescription: String { name }

    init(
        _ name: String, _ situation: Situation, filter: EpisodeFilter = .init(), force: Bool = false, _ kind: String,
        _ reason: String, bytes: Int64? = nil
    ) {
        self.name = name
        self.situation = situation
        self.filter = filter
        self.force = force
        self.kind = kind
        self.reason = reason
        self.bytes = bytes
    }
}

private let episode = Situation()
private let here = Situation().fetched()
private let wanted = "Book/7.mp3"
private let later = noon.addingTimeInterval(36_000)
private let failedThrice = episode.transfer(.failed, attempts: 3, next: later)
private let not7 = EpisodeFilter(only: SectionRanges([1...6]))
private let changedFile = here.standing(at: wanted, facts(size: 900, time: 60))
private let changeWords =
    "the file at Book/7.mp3 was truncated: it had 1000 bytes when it was fetched and has 900 now"
private let editedFile = here.standing(at: wanted, facts(size: 1100, time: 60))
private let renewed = here.size(1200)
private let renewedWords = "the catalog's size changed from 1000 to 1200"
private let removedWords = "removed; it is not fetched again"
private let leftWords =
    "it is left alone: verify --repair or fetch --force brings it again, verify --accept takes it as it is"
private let foreignWords = "a file that booksync did not fetch stands at Book/7.mp3; it is left alone"

private let absent: [Row] = [
    Row("new", episode, "fetch", "not on disk", bytes: 1000),
    Row("new, size unknown", episode.size(nil), "fetch", "not on disk"),
    Row(
        "a partial file", episode.partial(419), "resume", "41% of it is here already (419 B of 1.0 kB)", bytes: 581),
    Row("a partial file, size unknown", episode.size(nil).partial(419), "resume", "419 B of it are here already"),
    Row(
        "a partial file longer than the catalog's size", episode.partial(1100), "resume",
        "all of it is here already (1.1 kB)", bytes: 0),
    Row(
        "the server's length counts more than the catalog's",
        episode.partial(500).transfer(.downloading, total: 2000), "resume",
        "25% of it is here already (500 B of 2.0 kB)", bytes: 1500),
    Row(
        "a partial file of one byte", episode.partial(1), "resume", "0% of it is here already (1 B of 1.0 kB)",
        bytes: 999),
    Row("a whole partial file", episode.partial(1000), "resume", "all of it is here already (1.0 kB)", bytes: 0),
    Row("an empty partial file", episode.partial(0), "fetch", "not on disk", bytes: 1000),
    Row("locked", episode.locked(), "skip locked", "locked: the catalog gives no address"),
    Row("locked, forced", episode.locked(), force: true, "skip locked", "locked: the catalog gives no address"),
    Row("removed", episode.removed(), "skip tombstone", removedWords),
    Row(
        "removed, forced", episode.removed(), force: true, "fetch",
        "removed, fetched because it is forced", bytes: 1000),
    Row(
        "removed and locked, forced", episode.removed().locked(), force: true, "skip locked",
        "locked: the catalog gives no address"),
    Row("paused", episode.transfer(.paused).partial(10), "skip paused", "paused"),
    Row(
        "paused, forced", episode.transfer(.paused).partial(10), force: true, "resume",
        "1% of it is here already (10 B of 1.0 kB)", bytes: 990),
    Row("waits", failedThrice, "skip waits", "failed 3 times, next try 2026-11-21T22:00:00Z"),
    Row("waits, forced", failedThrice, force: true, "fetch", "failed 3 times", bytes: 1000),
    Row(
        "failed, and its time has come", episode.transfer(.failed, attempts: 1, next: noon), "fetch", "failed once",
        bytes: 1000),
    Row(
        "failed with a partial file", episode.transfer(.failed, attempts: 2).partial(500), "resume",
        "50% of it is here already (500 B of 1.0 kB); failed 2 times", bytes: 500),
    Row("cancelled", episode.transfer(.cancelled), "fetch", "not on disk", bytes: 1000),
    Row(
        "cancelled after failures", episode.transfer(.cancelled, attempts: 3, next: later), "fetch", "not on disk",
        bytes: 1000),
    Row("gone", episode.gone(), "skip gone", "no longer in the catalog, and not on disk"),
    Row("gone, forced", episode.gone(), force: true, "skip gone", "no longer in the catalog, and not on disk"),
    Row("not asked for", episode, filter: not7, "skip filtered", "not asked for (1-6)"),
    Row("not asked for, and locked", episode.locked(), filter: not7, "skip filtered", "not asked for (1-6)"),
    Row(
        "a foreign file in its place", episode.standing(at: wanted, facts(size: 999)), "skip obstructed", foreignWords),
    Row(
        "a foreign file in its place, forced", episode.standing(at: wanted, facts(size: 999)), force: true,
        "skip obstructed", foreignWords),
    Row(
        "a folder in its place", episode.standing(at: wanted, facts(kind: .folder)), "skip obstructed",
        "a folder stands at Book/7.mp3; it is left alone"),
    Row(
        "a symbolic link in its place", episode.standing(at: wanted, facts(kind: .symbolicLink)), "skip obstructed",
        "a symbolic link stands at Book/7.mp3; it is left alone"),
    Row("no name for it", episode.wanting(nil), "skip obstructed", "the naming template gives no path for it"),
]

private let present: [Row] = [
    Row("intact", here, "keep", "on disk", bytes: 1000),
    Row("intact, forced", here, force: true, "keep", "on disk", bytes: 1000),
    Row("intact and locked", here.locked(), "keep", "on disk", bytes: 1000),
    Row("intact, not asked for", here, filter: not7, "keep", "on disk", bytes: 1000),
    Row("intact and gone", here.gone(), "keep", "no longer in the catalog; its file is kept", bytes: 1000),
    Row("removed, and still there", here.removed(), "skip tombstone", removedWords),
    Row(
        "touched", here.standing(at: wanted, facts(time: 60)), "keep", "on disk, touched since it was fetched",
        bytes: 1000),
    Row("copied back with its time", here.standing(at: wanted, facts(inode: 99)), "keep", "on disk", bytes: 1000),
    Row(
        "a stale size in the catalog", episode.fetched(size: 990), "keep", "on disk", bytes: 990),
    Row("another size in the catalog", renewed, "replace", renewedWords, bytes: 1200),
    Row("another size, part of it here", renewed.partial(200), "replace", renewedWords, bytes: 1000),
    Row("a size where there was none", episode.fetched(catalogSize: nil), "keep", "on disk", bytes: 1000),
    Row("no size any more", here.size(nil), "keep", "on disk", bytes: 1000),
    Row(
        "another date in the catalog", episode.fetched(catalogDate: noon).dated(later), "replace",
        "the catalog's date changed from 2026-11-21T12:00:00Z to 2026-11-21T22:00:00Z", bytes: 1000),
    Row(
        "the same date less precisely", episode.fetched(catalogDate: noon).dated(noon + 0.4), "keep", "on disk",
        bytes: 1000),
    Row(
        "a date one second later in the catalog", episode.fetched(catalogDate: noon).dated(noon + 1), "replace",
        "the catalog's date changed from 2026-11-21T12:00:00Z to 2026-11-21T12:00:01Z", bytes: 1000),
    Row("a date where there was none", here.dated(noon), "keep", "on disk", bytes: 1000),
    Row(
        "another version, locked", renewed.locked(), "keep",
        "on disk; \(renewedWords), but the catalog gives no address",
        bytes: 1000),
    Row(
        "another version, not asked for", renewed, filter: not7, "keep",
        "on disk; \(renewedWords), but it is not asked for (1-6)", bytes: 1000),
    Row("another version, paused", renewed.transfer(.paused), "skip paused", "\(renewedWords), but paused"),
    Row(
        "another version, waits", renewed.transfer(.failed, attempts: 1, next: later), "skip waits",
        "\(renewedWords), but failed once, next try 2026-11-21T22:00:00Z"),
    Row("a transfer left over", here.transfer(.paused), "keep", "on disk", bytes: 1000),
    Row("truncated", changedFile, "skip truncated", "\(changeWords); \(leftWords)"),
    Row(
        "made longer", editedFile, "skip changed",
        "the file at Book/7.mp3 was edited: it had 1000 bytes when it was fetched and has 1100 now; \(leftWords)"),
    Row(
        "changed, forced", changedFile, force: true, "replace", "\(changeWords); fetched again because it is forced",
        bytes: 1000),
    Row(
        "truncated and locked, forced", changedFile.locked(), force: true, "skip truncated",
        "\(changeWords); \(leftWords)"),
    Row(
        "changed, not asked for, forced", changedFile, filter: not7, force: true, "skip filtered",
        "\(changeWords); it is not asked for (1-6)"),
    Row(
        "changed and gone", changedFile.gone(), "keep",
        "no longer in the catalog; its file is kept, changed as it is", bytes: 1000),
    Row(
        "a symbolic link instead of its file", here.standing(at: wanted, facts(kind: .symbolicLink)), force: true,
        "skip obstructed", "a symbolic link stands at Book/7.mp3 in its place; it is left alone"),
    Row("deleted", here.standing(at: wanted, nil), "fetch", "deleted from disk since it was fetched", bytes: 1000),
    Row(
        "deleted, with a partial file", here.standing(at: wanted, nil).partial(500), "resume",
        "deleted from disk since it was fetched; 50% of it is here already (500 B of 1.0 kB)", bytes: 500),
    Row(
        "deleted and gone", here.standing(at: wanted, nil).gone(), "skip gone",
        "no longer in the catalog, and not on disk"),
    Row(
        "deleted, and a foreign file stands at its new name",
        episode.fetched(at: "old").standing(at: "old", nil).standing(at: wanted, facts(size: 999, inode: 99)),
        "skip obstructed",
        foreignWords),
    Row(
        "renamed to its new name already",
        episode.fetched(at: "old").standing(at: "old", nil).standing(at: wanted, facts()), "keep", "on disk",
        bytes: 1000),
    Row("another name", episode.fetched(at: "old"), "rename", "its name changed", bytes: 1000),
    Row(
        "another name, not asked for", episode.fetched(at: "old"), filter: not7, "rename", "its name changed",
        bytes: 1000),
    Row(
        "another name, and gone", episode.fetched(at: "old").gone(), "keep",
        "no longer in the catalog; its file is kept", bytes: 1000),
    Row(
        "another name, a foreign file in the way",
        episode.fetched(at: "old").standing(at: wanted, facts(inode: 99)), "keep",
        "on disk; keeps its old name for now: a file that booksync did not fetch stands at Book/7.mp3", bytes: 1000),
]

@Suite struct DecisionTests {
    @Test(arguments: absent + present)
    func `an episode becomes what its situation asks for`(row: Row) throws {
        let plan = makePlan(for: try input([row.situation], filter: row.filter, force: row.force))
        let action = try #require(plan.actions.first)
        #expect(plan.actions.count == 1)
        #expect(action.kind.outline == row.kind)
        #expect(action.reason.description == row.reason)
        #expect(action.bytes == row.bytes)
    }

    @Test func `a replacement asks the server by what the file came with`() throws {
        let action = try #require(makePlan(for: try input([renewed])).actions.first)
        #expect(action.replacing == renewed.shelved.file)
        #expect(action.path == wanted)
    }

    @Test func `on-catalog-change keeps a file of which the catalog has another version, unless it is forced`() throws {
        var input = try input([renewed])
        input.rules.onCatalogChange = .keep
        let kept = try #require(makePlan(for: input).actions.first)
        #expect(kept.kind == .keep)
        #expect(kept.reason.description == "on disk; \(renewedWords), and on-catalog-change keeps it")
        input.rules.force = true
        #expect(makePlan(for: input).actions.first?.kind == .replace)
    }

    @Test func `a file that was replaced often is kept, unless it is forced`() throws {
        var input = try input([renewed])
        input.oftenReplaced = ["id7"]
        #expect(makePlan(for: input).actions.first?.kind == .keep)
        input.rules.force = true
        #expect(makePlan(for: input).actions.first?.kind == .replace)
    }

    /// Hours by which the catalog moved the date of each of some files, and which of them count as new versions.
    @Test(
        arguments: [
            ([1, 1, 1], []), ([-1, -1], []), ([5.5, 5.5, 0], []), ([13, 13], []),
            // A single date, other minutes, other hours, and more than zones are apart, are no clock.
            ([1], [1]), ([1, 0, 0], [1]), ([0.1, 0.1], [1, 2]), ([1, 2], [1, 2]),
            ([1, 1, 30], [1, 2, 3]), ([15, 15], [1, 2]),
        ] as [([Double], [Int])])
    func `the same quarters of an hour in all dates that moved are the catalog's clock`(
        shifts: [Double], replaced: [Int]
    ) throws {
        let situations = shifts.enumerated().map { index, hours in
            Situation(index + 1).fetched(catalogDate: noon).dated(noon + hours * 3600)
        }
        let plan = makePlan(for: try input(situations))
        #expect(plan.actions.filter { $0.kind == .replace }.map(\.episode.section) == replaced)
    }

    @Test func `a clock that was set hides no other size`() throws {
        let situations = (1...3).map { Situation($0).fetched(catalogDate: noon).dated(noon + 3600) }
        let plan = makePlan(for: try input(situations + [Situation(4).fetched(catalogDate: noon).size(1200)]))
        #expect(plan.actions.filter { $0.kind == .replace }.map(\.episode.section) == [4])
        let written = try input(situations.map { $0.size(1200) })
        #expect(makePlan(for: written).actions.count { $0.kind == .replace } == 3)
    }

    @Test func `a file that the user changed is fetched again without asking whether the server's did`() throws {
        let action = try #require(makePlan(for: try input([changedFile], force: true)).actions.first)
        #expect(action.kind == .replace)
        #expect(action.replacing == nil)
    }

    @Test func `a file with a new name and a new version is renamed and then replaced there`() throws {
        let plan = makePlan(for: try input([episode.fetched(at: "old").size(1200)]))
        #expect(plan.outline == ["rename 7 Book/7.mp3", "replace 7 Book/7.mp3"])
        #expect(plan.actions.last?.replacing?.path == wanted)
    }

    @Test func `a file under your own name says so, unless that is the wanted one`() throws {
        for (path, reason) in [("mine", "on disk, under a name of your own"), (wanted, "on disk")] {
            var named = episode.fetched(at: path)
            named.shelved.file?.isNamedByUser = true
            let plan = makePlan(for: try input([named]))
            #expect(plan.outline == ["keep 7 \(path)"])
            #expect(plan.actions.first?.reason.description == reason)
        }
    }

    @Test func `a file that you changed is renamed and replaced when forced, unless its name is yours`() throws {
        var edited = episode.fetched(at: "old").standing(at: "old", facts(size: 900, time: 60))
        #expect(
            makePlan(for: try input([edited], force: true)).outline == ["rename 7 Book/7.mp3", "replace 7 Book/7.mp3"])
        edited.shelved.file?.isNamedByUser = true
        #expect(makePlan(for: try input([edited], force: true)).outline == ["replace 7 old"])
    }

    /// The plan when every file is looked into: all begin as audio and have this SHA-256 and MD5.
    private func plan(
        _ situation: Situation, force: Bool = false, rule: MissingFileRule = .fetch, sha256: String = "?",
        md5: String = "?"
    ) throws -> [SyncAction] {
        var input = try input([situation], force: force)
        input.rules.onMissingFile = rule
        for (path, facts) in input.files {
            input.examined[path] = ExaminedFile(
                facts: facts, beginning: .audio, digests: [.sha256: sha256, .md5: md5])
        }
        return makePlan(for: input).actions
    }

    private func outline(_ actions: [SyncAction]) -> [String] {
        actions.map { "\($0.kind.outline) \($0.path) \($0.verification?.rawValue ?? "")" }
    }

    @Test func `a file that the user moved is followed, and then replaced where it is`() throws {
        let moved = here.standing(at: wanted, nil).standing(at: "Book/mine.mp3", facts())
        let kept = try plan(moved)
        #expect(outline(kept) == ["adopt Book/mine.mp3 "])
        #expect(kept.first?.fromPath == wanted)
        let replaced = try plan(moved.size(1200))
        #expect(outline(replaced) == ["adopt Book/mine.mp3 ", "replace Book/mine.mp3 "])
        #expect(replaced.first?.reason == kept.first?.reason)
        #expect(kept.first?.reason.description.hasPrefix("you moved it from Book/7.mp3") == true)
        #expect(outline(try plan(moved.gone())) == ["adopt Book/mine.mp3 "])
        let copied = here.standing(at: wanted, nil).standing(at: "Book/mine.mp3", facts(time: 60, inode: 99))
        #expect(outline(try plan(copied, sha256: "ab")) == ["adopt Book/mine.mp3 "])
        #expect(outline(try plan(copied, sha256: "cd")) == ["fetch \(wanted) "])
    }

    @Test func `a file that nobody recorded is adopted by what the catalog says of it`() throws {
        let placed = episode.standing(at: wanted, facts(inode: 99))
        #expect(outline(try plan(placed)) == ["adopt \(wanted) length"])
        #expect(
            try plan(placed).first?.reason.description == "it stands in its place, and has exactly the catalog's size")
        #expect(outline(try plan(placed.locked())) == ["adopt \(wanted) length"])
        #expect(outline(try plan(placed.size(nil))) == ["adopt \(wanted) unverified"])
        #expect(outline(try plan(placed.size(1001))) == ["skip obstructed \(wanted) "])
        var stale = try input([placed.size(1001)])
        stale.examined[wanted] = ExaminedFile(facts: facts(inode: 99), beginning: .audio)
        #expect(makeProvisionalPlan(for: stale).lengths == ["id7"])
        stale.declaredLengths = ["id7": 1000]
        #expect(outline(makePlan(for: stale).actions) == ["adopt \(wanted) length"])
        stale.declaredLengths = ["id7": 1002]
        #expect(outline(makePlan(for: stale).actions) == ["skip obstructed \(wanted) "])
        #expect(outline(try plan(placed.removed())) == ["skip tombstone \(wanted) "])
        #expect(outline(try plan(placed.transfer(.downloading))) == ["skip obstructed \(wanted) "])
        var declared = placed
        declared.shelved.episode.digest = ContentDigest(algorithm: .md5, hexadecimal: "aa")
        #expect(outline(try plan(declared, md5: "aa")) == ["adopt \(wanted) digest"])
        #expect(outline(try plan(declared, md5: "bb")) == ["skip obstructed \(wanted) "])
        let elsewhere = episode.standing(at: "Book/07 old.mp3", facts(inode: 99))
        #expect(outline(try plan(elsewhere)) == ["adopt Book/07 old.mp3 length"])
        #expect(outline(try plan(elsewhere.size(nil))) == ["fetch \(wanted) "])
        #expect(outline(try plan(episode.standing(at: "Book/8.mp3", facts(inode: 99)))) == ["fetch \(wanted) "])
    }

    @Test func `a deleted file counts as removed where the rules say so, unless forced`() throws {
        let deleted = here.standing(at: wanted, nil)
        #expect(outline(try plan(deleted, rule: .tombstone)) == ["skip tombstone \(wanted) "])
        #expect(outline(try plan(deleted, force: true, rule: .tombstone)) == ["fetch \(wanted) "])
        // Nobody knows what is behind a link.
        let behind = deleted.standing(at: "Book", facts(kind: .symbolicLink))
        #expect(outline(try plan(behind, rule: .tombstone)) == ["fetch \(wanted) "])
    }

    @Test func `a file found under its new name says which record is stale`() throws {
        let moved = episode.fetched(at: "old").standing(at: "old", nil).standing(at: wanted, facts())
        let action = try #require(makePlan(for: try input([moved])).actions.first)
        #expect(action.path == wanted)
        #expect(action.fromPath == "old")
    }

    @Test func `the totals count the bytes of transfers only`() throws {
        let totals = makePlan(
            for: try input([Situation(1), Situation(2).fetched(), Situation(3).partial(400), Situation(4).locked()])
        ).totals
        #expect(totals.bytes == 1600)
        #expect((totals.fetch, totals.keep, totals.resume, totals.skip, totals.skip(.locked)) == (1, 1, 1, 1, 1))
    }
}
