import BookModel
import Foundation
import Support
import Testing

@testable import SyncPlanner

/// A library in memory that executes plans as the engine does: whatever would write over something, or acts on what is
/// not there, is noted as a breach.
private struct Library {
    var input: PlannerInput
    var breaches: [String] = []
    var nextInode: UInt64 = 1_000_000

    mutating func execute(_ plan: SyncPlan) {
        // A record of what is gone would only claim its path.
        let followed = Set(plan.actions.filter { $0.kind != .rename && $0.fromPath != nil }.map(\.episode.identity))
        for index in input.episodes.indices {
            guard let file = input.episodes[index].file, input.files[file.path] == nil else { continue }
            if !followed.contains(file.episode) { input.episodes[index].file = nil }
        }
        rename(plan.actions.filter { $0.kind == .rename })
        for action in plan.actions {
            switch action.kind {
            case .rename: break
            case .fetch, .resume: publish(action, over: nil)
            case .replace: publish(action, over: record(of: action)?.path)
            case .adopt: if action.fromPath == nil { recordFile(action) } else { follow(action) }
            case .keep: if action.fromPath != nil { follow(action) }
            case .expire:
                input.files[action.path] = nil
                update(action) { ($0.removedAt, $0.file) = (noon, nil) }
            case .skip(.tombstone):
                update(action) { if $0.removedAt == nil { ($0.removedAt, $0.file) = (noon, nil) } }
            case .skip: break
            }
        }
    }

    /// The record goes to where the file is.
    private mutating func follow(_ action: SyncAction) {
        let facts = input.files[action.path]
        if facts == nil { breaches.append("nothing at \(action.path)") }
        let isNamed = input.paths[action.episode.identity.key] != action.path
        update(action) {
            $0.file?.path = action.path
            $0.file?.isNamedByUser = isNamed
            $0.file?.inode = facts?.inode ?? 0
            $0.file?.modificationTime = facts?.modificationTime ?? 0
        }
    }

    private func record(of action: SyncAction) -> LocalFile? {
        input.episodes.first { $0.episode.identity == action.episode.identity }?.file
    }

    private mutating func update(_ action: SyncAction, _ change: (inout EpisodeRecord) -> Void) {
        for index in input.episodes.indices
        where input.episodes[index].episode.identity == action.episode.identity {
            change(&input.episodes[index])
        }
    }

    /// All at once: a file that swaps its name steps aside in between.
    private mutating func rename(_ actions: [SyncAction]) {
        var moved: [(SyncAction, FileAttributes)] = []
        for action in actions {
            guard let from = action.fromPath, let facts = input.files.removeValue(forKey: from) else {
                breaches.append("rename of nothing: \(action.fromPath ?? "-")")
                continue
            }
            if record(of: action)?.path != from {
                breaches.append("\(from) is not the file of \(action.episode.section)")
            }
            moved.append((action, facts))
        }
        for (action, facts) in moved {
            if input.files[action.path] != nil { breaches.append("rename over \(action.path)") }
            input.files[action.path] = facts
            update(action) { $0.file?.path = action.path }
        }
    }

    private mutating func publish(_ action: SyncAction, over own: String?) {
        if input.files[action.path] != nil, own != action.path, !isMoved(action) {
            breaches.append("\(action.kind.outline) of \(action.episode.section) over \(action.path)")
        }
        nextInode += 1
        input.files[action.path] = FileAttributes(
            size: action.episode.size ?? 1, modificationTime: 77, inode: nextInode, kind: .file)
        recordFile(action)
    }

    /// Whether the file in place is the episode's own although the record has another path.
    private func isMoved(_ action: SyncAction) -> Bool {
        let file = record(of: action)
        return file != nil && input.files[action.path]?.inode == file?.inode
    }

    private mutating func recordFile(_ action: SyncAction) {
        guard let facts = input.files[action.path] else {
            breaches.append("nothing at \(action.path)")
            return
        }
        input.partials[action.episode.identity.key] = nil
        let isNamed = input.paths[action.episode.identity.key] != action.path
        let wasNamed = record(of: action).map { $0.path == action.path && $0.isNamedByUser } ?? false
        update(action) {
            $0.removedAt = nil
            $0.transfer = nil
            $0.file = LocalFile(
                episode: action.episode.identity, path: action.path, size: facts.size, sha256: "cd",
                modificationTime: facts.modificationTime, inode: facts.inode, catalogSize: action.episode.size,
                catalogModifiedAt: action.episode.modifiedAt, fetchedAt: noon, verification: .length,
                isNamedByUser: wasNamed || action.kind == .adopt && isNamed)
        }
    }
}

extension Situation {
    /// Anything that can happen to an episode; all within few enough names that they get in each other's way.
    fileprivate static func random(_ section: Int, among count: Int, using chance: inout SeededGenerator) -> Situation {
        func name(_ chance: inout SeededGenerator) -> String { "Book/\(Int.random(in: 1...count, using: &chance))" }
        func odds(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &chance) == 0 }
        var situation = Situation(section).wanting(name(&chance))
        if odds(2) {
            situation = situation.fetched(at: "Book/\(section)")
            if odds(6) { situation.disk = [:] }
            if odds(6) { situation.disk["Book/\(section)"]?.size += 1 }
            if odds(9) { situation.disk["Book/\(section)"]?.kind = .symbolicLink }
            if odds(4) { situation.disk = [name(&chance): facts(inode: UInt64(section))] }
            if odds(6) { situation.disk = [name(&chance): facts(time: 51, inode: UInt64(section))] }
            if odds(6) { situation.disk = ["Book/0\(section) moved": facts(time: 52, inode: 900 + UInt64(section))] }
            if odds(9) { situation.shelved.file?.isNamedByUser = true }
        } else if odds(5) {
            let size: Int64 = odds(2) ? 1000 : 999
            situation = situation.standing(at: name(&chance), facts(size: size, inode: 500 + UInt64(section)))
        } else if odds(5) {
            situation = situation.standing(at: "Book/0\(section) x", facts(inode: 700 + UInt64(section)))
        }
        if odds(9) { situation.shelved.episode.digest = ContentDigest(algorithm: .md5, hexadecimal: "e\(section)") }
        if odds(9) { situation = situation.size(nil) }
        if odds(5) { situation = situation.size(1200) }
        if odds(7) { situation = situation.locked() }
        if odds(7) { situation = situation.gone() }
        if odds(7) { situation = situation.removed() }
        if odds(4) { situation = situation.partial(300) }
        if odds(4), let state = [TransferState.paused, .failed, .downloading].randomElement(using: &chance) {
            situation = situation.transfer(state, attempts: 2, next: odds(2) ? noon.addingTimeInterval(60) : nil)
        }
        if odds(6) { situation = situation.wanting(nil) }
        return situation
    }
}

/// What a look into the files brings: every file either is what somebody recorded or has some other digest.
private func answer(_ questions: [String: ProbeDepth], of input: PlannerInput) -> [String: ExaminedFile] {
    var answers: [String: ExaminedFile] = [:]
    for (path, examination) in questions {
        guard let facts = input.files[path], facts.inode % 5 != 0 else { continue }
        var digests: [ContentDigest.Algorithm: String] = [:]
        if examination != .beginning {
            digests[.sha256] = facts.inode % 2 == 0 ? "ab" : "x\(facts.inode)"
            digests[.md5] = "e\(facts.inode % 100)"
        }
        let beginning: ExaminedFile.Beginning = facts.inode % 7 == 0 ? .foreign("a page") : .audio
        answers[path] = ExaminedFile(facts: facts, beginning: beginning, digests: digests)
    }
    return answers
}

/// The plan as a run makes it.
private func cachedPlan(_ input: inout PlannerInput) -> SyncPlan {
    for _ in 1...4 {
        let questions = makeProvisionalPlan(for: input).examinations
        let answers = answer(questions, of: input)
        guard !answers.isEmpty else { break }
        input.examined.merge(answers) { _, new in new }
    }
    return makePlan(for: input)
}

@Suite struct PropertyTests {
    /// Seeds a hundred at a time, so that ten thousand cases are a hundred tests.
    @Test(arguments: 0..<Tier.choose(quick: 5, full: 20, long: 100))
    func `every plan is safe, settled and the same for every order of its input`(block: UInt64) throws {
        for seed in block * 100..<block * 100 + 100 { try check(seed) }
    }

    private func check(_ seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed)
        let count = Int.random(in: 1...14, using: &chance)
        let book = (1...count).map { Situation.random($0, among: count, using: &chance) }
        let force = Bool.random(using: &chance)
        let order: TransferOrder = Bool.random(using: &chance) ? .first : .last
        let latest = Bool.random(using: &chance) ? Int.random(in: 1...count, using: &chance) : nil
        var input = try input(book, filter: EpisodeFilter(latest: latest), order: order, force: force)
        if Bool.random(using: &chance) { input.rules.onMissingFile = .tombstone }
        let plan = cachedPlan(&input)
        let note: Comment = "seed \(seed)"

        #expect(Set(plan.actions.map(\.episode.identity)).count == count, "every episode is spoken of; \(note)")
        var targets: [String: EpisodeIdentity] = [:]
        for action in plan.actions where action.kind.isTransfer || [.rename, .adopt].contains(action.kind) {
            let holder = targets.updateValue(action.episode.identity, forKey: action.path)
            #expect(
                holder == nil || holder == action.episode.identity,
                "two episodes have the target \(action.path); \(note)")
        }

        input.episodes.shuffle(using: &chance)
        #expect(makePlan(for: input) == plan, note)

        var library = Library(input: input)
        library.execute(plan)
        #expect(library.breaches == [], note)
        let origins = Dictionary(
            plan.actions.filter { $0.kind == .rename }.map { ($0.path, $0.fromPath ?? $0.path) }
        ) { first, _ in first }
        let replaced = Set(
            plan.actions.filter { $0.kind == .replace }.compactMap { input.files[origins[$0.path] ?? $0.path]?.inode })
        let lost = Set(input.files.values.map(\.inode)).subtracting(library.input.files.values.map(\.inode))
        #expect(lost.subtracting(replaced) == [], "nothing is lost but what is replaced; \(note)")
        library.input.examined = [:]
        let next = cachedPlan(&library.input)
        let unsettled = next.actions.filter { $0.kind.isTransfer || $0.kind == .rename || $0.kind == .adopt }
        let words = { (action: SyncAction) in
            "\(action.kind.outline) \(action.episode.section) \(action.fromPath ?? "") → \(action.path): \(action.reason)"
        }
        #expect(
            unsettled.map(words) == [], "after \(plan.actions.map(words).joined(separator: "\n")); \(note)")
    }
}
