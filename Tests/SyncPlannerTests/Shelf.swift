import BookModel
import Foundation

@testable import SyncPlanner

let book = BookIdentity(source: "kting", id: "30776")
let noon = Date(timeIntervalSince1970: 1_795_262_400)  // 2026-11-21T12:00:00Z

/// What is planned as long as nothing more is found out about files.
func makePlan(for input: PlannerInput) -> SyncPlan { makeProvisionalPlan(for: input).plan }

/// One episode with all that can be said of it, arranged by naming what is special about it.
struct Situation {
    var shelved: EpisodeRecord
    var wanted: String?
    /// What stands in the library.
    var disk: [String: FileAttributes] = [:]
    var partial: Int64?

    init(_ section: Int = 7, name: String = "山村") {
        let identity = EpisodeIdentity(book: book, key: "id\(section)")
        self.shelved = EpisodeRecord(
            episode: Episode(
                identity: identity, section: section, name: name, address: ResourceAddress("http://audio.example/7"),
                size: 1000))
        self.wanted = "Book/\(section).mp3"
    }

    private func with(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }

    /// Fetched earlier, and there.
    func fetched(
        at path: String? = nil, size: Int64 = 1000, catalogSize: Int64? = 1000, catalogDate: Date? = nil,
        inode: UInt64? = nil
    ) -> Self {
        with {
            let path = path ?? "Book/\($0.shelved.episode.section).mp3"
            let inode = inode ?? UInt64($0.shelved.episode.section)
            $0.shelved.file = LocalFile(
                episode: $0.shelved.episode.identity, path: path, size: size, sha256: "ab", modificationTime: 50,
                inode: inode, validator: ContentValidator(entityTag: "\"1\""), catalogSize: catalogSize,
                catalogModifiedAt: catalogDate, fetchedAt: noon, verification: .length)
            $0.disk[path] = FileAttributes(size: size, modificationTime: 50, inode: inode, kind: .file)
        }
    }

    func standing(at path: String, _ facts: FileAttributes?) -> Self { with { $0.disk[path] = facts } }
    func wanting(_ path: String?) -> Self { with { $0.wanted = path } }
    func partial(_ bytes: Int64) -> Self { with { $0.partial = bytes } }
    func locked() -> Self { with { $0.shelved.episode.address = nil } }
    func gone() -> Self { with { $0.shelved.isGone = true } }
    func removed() -> Self { with { $0.shelved.removedAt = noon } }
    func size(_ size: Int64?) -> Self { with { $0.shelved.episode.size = size } }
    func dated(_ date: Date?) -> Self { with { $0.shelved.episode.modifiedAt = date } }

    func transfer(
        _ state: TransferState, attempts: Int = 0, next: Date? = nil, total: Int64? = nil
    ) -> Self {
        with {
            $0.shelved.transfer = TransferRecord(
                episode: $0.shelved.episode.identity, state: state, total: total, attempts: attempts,
                nextTryAt: next)
        }
    }
}

func facts(size: Int64 = 1000, time: Int64 = 50, inode: UInt64 = 7, kind: FileAttributes.Kind = .file) -> FileAttributes
{
    FileAttributes(size: size, modificationTime: time, inode: inode, kind: kind)
}

func input(
    _ situations: [Situation], filter: EpisodeFilter = .init(), order: TransferOrder = .first, force: Bool = false
) throws -> PlannerInput {
    var input = PlannerInput(
        book: Book(identity: book, title: "回到古代当兽医"), episodes: situations.map(\.shelved), paths: [:], files: [:],
        partials: [:], rules: PlanRules(filter: try CompiledFilter(filter), order: order, force: force, now: noon))
    for situation in situations {
        let key = situation.shelved.episode.identity.key
        input.paths[key] = situation.wanted
        input.partials[key] = situation.partial
        input.files.merge(situation.disk) { _, new in new }
    }
    return input
}

extension SyncAction.Kind {
    /// `skip locked`, `fetch`.
    var outline: String {
        if case .skip(let skip) = self { "skip \(skip)" } else { keyword }
    }
}

extension SyncPlan {
    /// `rename 7 Book/7.mp3`, one line an action.
    var outline: [String] { actions.map { "\($0.kind.outline) \($0.episode.section) \($0.path)" } }
}
