import BookModel

// The planner decides in two steps. First every episode for itself: is its file there, is it the one that was fetched,
// did the catalog change, may it be fetched now (EpisodeDecision). Then all together: which renames can be done in
// which order (RenameOrder), and which transfer may take which path once they are done.
//
// What holds of every plan: no two episodes share a target; nothing that stands on disk is written over, except an
// episode's own file by its replacement; the result depends on the order of the input only where the catalog's order
// is asked for; and once it is executed, the next plan holds only keeps and skips.
//
// It does not look inside files: a file of the recorded size passes for the recorded file (`verify` re-reads them).
// Where a file stands that nobody recorded and that may be an episode's (FileRecognition), the caller looks.

/// The difference between catalog and library for one book.
///
/// Actions stand in the order in which they are to be executed: renames first, then adoptions, then transfers in the
/// order asked for, then what expires, then what is kept, then what is skipped. An episode with a new name and a new version has two
/// actions, a rename (or an adoption, where the user renamed it) and a replacement at the new path; when the rename
/// fails, leave the replacement out.
///
/// - Returns: the plan, and what would have to be found out for all files to be recognised: which to look into and how far, and
///   the keys of the episodes whose servers to ask for a length, since a file in its place contradicts the catalog's.
///   Without that the plan is a safe one all the same: what is not recognised is left alone.
package func makeProvisionalPlan(
    for input: PlannerInput
) -> (plan: SyncPlan, examinations: [String: ProbeDepth], lengths: Set<String>) {
    let planner = Planner(input)
    return (planner.plan, planner.recognition.questions, planner.recognition.lengthQuestions)
}

private struct Planner {
    private let input: PlannerInput
    /// In section order.
    private let decisions: [EpisodeDecision]
    /// Path → key of the episode that the store records there. Where two are recorded (one was deleted from disk, and
    /// the other was put in its place), the file is that one's whose inode it has.
    private let owners: [String: String]
    private let sections: [String: Int]
    /// Keys of the episodes that the filter asks for.
    private let asked: Set<String>
    private let renames: RenameOrder
    let recognition: FileRecognition
    private let beyondRule: [Message]
    /// Path → section of the episode that is to stand there.
    private var targets: [String: Int] = [:]

    init(_ input: PlannerInput) {
        self.input = input
        let episodes = input.episodes.sorted(by: inSectionOrder)
        var owners: [String: String] = [:]
        var sections: [String: Int] = [:]
        for shelved in episodes {
            let key = shelved.episode.identity.key
            sections[key] = shelved.episode.section
            guard let file = shelved.file else { continue }
            if owners[file.path] == nil || input.files[file.path]?.inode == file.inode { owners[file.path] = key }
        }
        let wanted = input.rules.filter.wantedKeys(among: episodes, now: input.rules.now)
        let conditions = episodes.map { shelved in
            FileCondition(
                of: shelved, wanted: input.paths[shelved.episode.identity.key], files: input.files, owners: owners)
        }
        let recognition = FileRecognition(
            episodes, conditions: conditions, wanted: wanted, owners: owners, input: input)
        let expiry = Expiry(episodes, conditions: conditions, wanted: wanted, input: input)
        let clockShift = episodes.clockShift
        let decisions = zip(episodes, conditions).map { shelved, condition in
            let key = shelved.episode.identity.key
            var rule: Message? = wanted.contains(key) ? nil : input.rules.filter.rule
            if rule == nil, expiry.unwanted.contains(key) { rule = input.rules.keep.map { "\($0)" } }
            return EpisodeDecision(
                for: shelved, condition: condition, match: recognition.matches[key], input: input, unwantedBy: rule,
                isExpired: expiry.expired.contains(key),
                change: shelved.file?.catalogChange(to: shelved.episode, clockShift: clockShift))
        }
        let moves = decisions.enumerated().compactMap { rank, decision -> RenameOrder.Move? in
            guard decision.mayMove, let from = decision.existingPath, let to = decision.wanted, from != to else {
                return nil
            }
            return RenameOrder.Move(rank: rank, from: from, to: to)
        }
        self.renames = RenameOrder(moves, occupied: Set(input.files.keys))
        self.recognition = recognition
        self.beyondRule = expiry.beyondRule
        self.decisions = decisions
        self.owners = owners
        self.sections = sections
        self.asked = wanted
    }

    var plan: SyncPlan {
        var planner = self
        var plan = SyncPlan(book: input.book, actions: planner.actions())
        plan.beyondRule = beyondRule
        return plan
    }

    private mutating func actions() -> [SyncAction] {
        var renamed: [Int: SyncAction] = [:]
        for move in renames.moves {
            let decision = decisions[move.rank]
            targets[move.to] = decision.shelved.episode.section
            renamed[move.rank] = SyncAction(
                kind: .rename, episode: decision.shelved.episode, path: move.to, fromPath: move.from,
                bytes: input.files[move.from]?.size,
                reason: renames.swapping.contains(move.rank)
                    ? "its name changed, and it swaps names with others" : "its name changed")
        }
        var adoptions: [SyncAction] = []
        var transfers: [SyncAction] = []
        var expired: [SyncAction] = []
        var kept: [SyncAction] = []
        var skipped: [SyncAction] = []
        for (rank, decision) in decisions.enumerated() {
            let rename = renamed[rank]
            let action = action(for: decision, rank: rank, newPath: rename?.path)
            let isReported = rename != nil || decision.following != nil
            if let following = decision.following, let path = decision.existingPath {
                adoptions.append(
                    SyncAction(
                        kind: .adopt, episode: action.episode, path: path, fromPath: decision.staleRecord,
                        bytes: input.files[path]?.size, reason: following))
            }
            switch action.kind {
            case .fetch, .resume, .replace: transfers.append(action)
            case .adopt: adoptions.append(action)
            // A renamed or followed file says by that that it is kept.
            case .keep, .rename: if !isReported { kept.append(action) }
            case .expire: expired.append(action)
            case .skip: if !isReported { skipped.append(action) }
            }
        }
        let (begun, left) = input.rules.limits.divide(ordered(transfers))
        return renames.moves.compactMap { renamed[$0.rank] } + adoptions + begun + expired + kept + skipped
            + left
    }

    private func ordered(_ transfers: [SyncAction]) -> [SyncAction] {
        switch input.rules.order {
        case .first: return transfers
        case .last: return transfers.reversed()
        case .listed:
            let order = Dictionary(
                input.episodes.enumerated().map { ($1.episode.identity.key, $0) }, uniquingKeysWith: { one, _ in one })
            return transfers.sorted {
                order[$0.episode.identity.key, default: .max] < order[$1.episode.identity.key, default: .max]
            }
        }
    }

    /// - Parameter newPath: where its rename in this plan puts its file.
    private mutating func action(for decision: EpisodeDecision, rank: Int, newPath: String?) -> SyncAction {
        var action = decision.action
        action.isAsked = asked.contains(action.episode.identity.key)
        if let newPath, action.kind != .adopt { action.path = newPath }
        switch action.kind {
        case .keep:
            action.fromPath = decision.staleRecord
            if let obstacle = renames.obstacles[rank] {
                action.reason =
                    "\(action.reason); keeps its old name for now: \(sentence(for: obstacle, wanted: decision.wanted))"
            }
        case .skip, .expire, .rename: break
        case .adopt: targets[action.path] = action.episode.section
        case .fetch, .resume, .replace:
            if newPath == nil, decision.existingPath == nil, let obstruction = obstruction(at: decision.wanted) {
                action.kind = .skip(.obstructed)
                action.reason = obstruction
                action.bytes = nil
            } else {
                let path = action.path
                action.replacing?.path = path
                targets[path] = action.episode.section
            }
        }
        return action
    }

    /// Why nothing may be fetched to the path, once the renames are done.
    private func obstruction(at path: String?) -> Message? {
        guard let path else { return "the naming template gives no path for it" }
        if let section = targets[path] { return "episode \(section) will be at \(path)" }
        guard renames.occupied.contains(path) else { return nil }
        return "\(occupant(at: path)); it is left alone"
    }

    private func occupant(at path: String) -> Message {
        if let owner = owners[path], let section = sections[owner] {
            return "the file of episode \(section) stands at \(path)"
        }
        switch input.files[path]?.kind ?? .file {
        case .file: return "a file that booksync did not fetch stands at \(path)"
        case let kind: return "\(kind.noun) stands at \(path)"
        }
    }

    private func sentence(for obstacle: RenameOrder.Obstacle, wanted: String?) -> Message {
        let path = wanted ?? ""
        switch obstacle {
        case .occupied: return occupant(at: path)
        case .takenBy(let rank): return "episode \(decisions[rank].shelved.episode.section) will be at \(path)"
        }
    }
}
