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
        for action in plan.actions {
            switch action.kind {
            case .rename: rename(action)
            case .fetch, .resume: publish(action, over: nil)
            case .replace: publish(action, over: record(of: action)?.path)
            case .adopt: recordFile(action)
            case .keep:
                if action.fromPath != nil { update(action) { $0.file?.path = action.path } }
            case .skip: break
            }
        }
    }

    private func record(of action: SyncAction) -> LocalFile? {
        input.episodes.first { $0.episode.identity == action.episode.identity }?.file
    }

    private mutating func update(_ action: SyncAction, _ change: (inout ShelvedEpisode) -> Void) {
        for index in input.episodes.indices
        where input.episodes[index].episode.identity == action.episode.identity {
            change(&input.episodes[index])
        }
    }

    private mutating func rename(_ action: SyncAction) {
        guard let from = action.fromPath, let facts = input.files.removeValue(forKey: from) else {
            breaches.append("rename of nothing: \(action.fromPath ?? "-")")
            return
        }
        if record(of: action)?.path != from { breaches.append("\(from) is not the file of \(action.episode.section)") }
        if input.files[action.path] != nil { breaches.append("rename over \(action.path)") }
        input.files[action.path] = facts
        update(action) { $0.file?.path = action.path }
    }

    private mutating func publish(_ action: SyncAction, over own: String?) {
        if input.files[action.path] != nil, own != action.path, !isMoved(action) {
            breaches.append("\(action.kind.outline) of \(action.episode.section) over \(action.path)")
        }
        nextInode += 1
        input.files[action.path] = FileFacts(
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
        update(action) {
            $0.removedAt = nil
            $0.transfer = nil
            $0.file = LocalFile(
                episode: action.episode.identity, path: action.path, size: facts.size, sha256: "cd",
                modificationTime: facts.modificationTime, inode: facts.inode, catalogSize: action.episode.size,
                catalogModifiedAt: action.episode.modifiedAt, fetchedAt: noon, verification: .length)
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
            if odds(6) { situation.disk = [name(&chance): facts(inode: UInt64(section))] }
        } else if odds(5) {
            situation = situation.standing(at: "Book/\(section)", facts(inode: 500 + UInt64(section)))
        }
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

@Suite struct PropertyTests {
    @Test(arguments: 0..<1000)
    func `every plan is safe, settled and the same for every order of its input`(seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed)
        let count = Int.random(in: 1...14, using: &chance)
        let book = (1...count).map { Situation.random($0, among: count, using: &chance) }
        let force = Bool.random(using: &chance)
        let order: TransferOrder = Bool.random(using: &chance) ? .first : .last
        let latest = Bool.random(using: &chance) ? Int.random(in: 1...count, using: &chance) : nil
        var input = try input(book, filter: EpisodeFilter(latest: latest), order: order, force: force)
        let plan = makePlan(for: input)

        #expect(Set(plan.actions.map(\.episode.identity)).count == count, "every episode is spoken of")
        var targets: [String: EpisodeIdentity] = [:]
        for action in plan.actions where action.kind.isTransfer || action.kind == .rename {
            let holder = targets.updateValue(action.episode.identity, forKey: action.path)
            #expect(holder == nil || holder == action.episode.identity, "two episodes have the target \(action.path)")
        }

        input.episodes.shuffle(using: &chance)
        #expect(makePlan(for: input) == plan)

        var library = Library(input: input)
        library.execute(plan)
        #expect(library.breaches == [])
        let next = makePlan(for: library.input)
        let unsettled = next.actions.filter { $0.kind.isTransfer || $0.kind == .rename || $0.kind == .adopt }
        #expect(unsettled == [], "after \(plan.outline)")
    }
}
