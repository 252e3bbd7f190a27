import BookModel
import Foundation

/// What is to become of one episode as long as the others are not in its way; ``makeProvisionalPlan(for:)`` decides who may take
/// which path.
struct EpisodeDecision {
    var shelved: EpisodeRecord
    /// Where its file stands now or, without one, where the naming wants it; an adoption where the file was found.
    var action: SyncAction
    /// Where the naming wants it.
    var wanted: String?
    /// Where its own file stands now.
    var existingPath: String?
    /// What the store has as its path, where that is no longer right.
    var staleRecord: String?
    /// Why its record follows its file to where the user moved it; beside the outcome.
    var following: Message?
    /// Whether its file follows the naming.
    var mayMove: Bool { existingPath != nil && wanted != nil && follows }
    private var follows = false
    /// What is wrong with its file, where that is to be put right.
    private let damage: String?

    /// - Parameters:
    ///   - condition: of its recorded file.
    ///   - match: the file that was recognised as its, where it is not the one at its recorded path.
    ///   - rule: the filter that does not let the episode pass, or the rule of what to keep; nil where it is wanted.
    ///   - isExpired: whether its file is not to be kept.
    ///   - change: how the catalog differs from what it said of the file.
    init(
        for shelved: EpisodeRecord, condition: FileCondition, match: FileRecognition.Match?, input: PlannerInput,
        unwantedBy rule: Message?, isExpired: Bool, change: Message?
    ) {
        let key = shelved.episode.identity.key
        var condition = condition
        if let match, match.verification == nil, case .missing(var file) = condition {
            let recorded = file.path
            file.path = match.path
            file.isNamedByUser = match.path != input.paths[key]
            let touched = input.files[match.path].map(file.hasTime) != true
            condition = .intact(file, touched: touched, recordedPath: recorded)
            self.following = match.reason
        }
        self.shelved = shelved
        self.damage = input.damaged[key]
        self.wanted = input.paths[key]
        self.existingPath = condition.existingFile?.path
        if case .intact(let file, _, let recorded) = condition, recorded != file.path { staleRecord = recorded }
        self.action = SyncAction(
            kind: .keep, episode: shelved.episode, path: existingPath ?? wanted ?? "", reason: "")
        let partial = max(0, input.partials[key] ?? 0)

        if shelved.removedAt != nil, !input.rules.force {
            skip(.tombstone, "removed; it is not fetched again")
        } else if isExpired, following == nil, let file = condition.existingFile {
            decide(.expire, "not kept by its book's rule (\(input.rules.keep?.description ?? ""))", bytes: file.size)
        } else if let damage, following == nil, let file = condition.existingFile {
            decideAboutDamage(damage, of: file, partial: partial, rules: input.rules)
        } else {
            switch condition {
            case .intact(let file, let touched, _):
                decideAboutFile(
                    file, touched: touched, change: change, partial: partial, input: input, unwantedBy: rule)
            case .changed(let file, _) where match?.path == file.path:
                if let match { adopt(match.path, match.reason, match.verification, files: input.files) }
            case .changed(let file, let size):
                decideAboutChange(of: file, to: size, partial: partial, rules: input.rules, unwantedBy: rule)
            case .displaced(let file, let kind):
                skip(.obstructed, "\(kind.noun) stands at \(file.path) in its place; it is left alone")
            case .missing(let file) where countsAsRemoved(file, input: input, match: match):
                skip(
                    .tombstone,
                    "deleted from disk since it was fetched, and so counts as removed (downloads.on-missing-file)")
            case .missing, .unrecorded:
                decideAboutAbsence(partial: partial, rules: input.rules, unwantedBy: rule)
                if let match { adopt(match.path, match.reason, match.verification, files: input.files) }
            }
        }
        // A record that is not said to be kept must be said to follow, or it would be lost.
        if staleRecord != nil, following == nil, action.kind != .keep {
            following = "it is found under the name that it was to have"
        }
    }

    /// - Parameter bytes: still to be fetched, or of the file that stays.
    private mutating func decide(_ kind: SyncAction.Kind, _ reason: Message, bytes: Int64?) {
        (action.kind, action.reason, action.bytes) = (kind, reason, bytes)
    }

    private mutating func skip(_ skip: SyncAction.Skip, _ reason: Message) {
        decide(.skip(skip), reason, bytes: nil)
    }

    private mutating func keep(_ file: LocalFile, _ reason: Message) { decide(.keep, reason, bytes: file.size) }

    private mutating func adopt(
        _ path: String, _ reason: Message, _ verification: LocalFile.Verification? = nil,
        files: [String: FileAttributes]
    ) {
        decide(.adopt, reason, bytes: files[path]?.size)
        (action.path, action.verification) = (path, verification)
    }

    private func countsAsRemoved(_ file: LocalFile, input: PlannerInput, match: FileRecognition.Match?) -> Bool {
        input.rules.onMissingFile == .tombstone && !input.rules.force && match == nil && !shelved.isGone
            && !input.files.isBehindLink(file.path)
    }
}

// MARK: - The situations

extension EpisodeDecision {
    private mutating func decideAboutFile(
        _ file: LocalFile, touched: Bool, change: Message?, partial: Int64, input: PlannerInput,
        unwantedBy rule: Message?
    ) {
        let rules = input.rules
        var present: Message = touched ? "on disk, touched since it was fetched" : "on disk"
        if shelved.isGone { return keep(file, "no longer in the catalog; its file is kept") }
        follows = !file.isNamedByUser
        if file.isNamedByUser, wanted != file.path { present = "\(present), under a name of your own" }
        guard let change else { return keep(file, present) }
        if let rule { return keep(file, "\(present); \(change), but it is not asked for (\(rule))") }
        if shelved.episode.isLocked { return keep(file, "\(present); \(change), but the catalog gives no address") }
        if rules.onCatalogChange == .keep, !rules.force {
            return keep(file, "\(present); \(change), and on-catalog-change keeps it")
        }
        if input.oftenReplaced.contains(shelved.episode.identity.key), !rules.force {
            return keep(
                file,
                "\(present); \(change), and it was replaced \(CatalogChangeRule.maxReplacements) times within 30 days, so it is kept: fetch --force replaces it"
            )
        }
        if let (postponed, why) = postponement(rules) { return skip(postponed, "\(change), but \(why)") }
        replace(file, partial: partial, reason: change, asking: true)
    }

    private mutating func decideAboutChange(
        of file: LocalFile, to size: Int64, partial: Int64, rules: PlanRules, unwantedBy rule: Message?
    ) {
        if shelved.isGone { return keep(file, "no longer in the catalog; its file is kept, changed as it is") }
        let change: Message =
            size < file.size
            ? "the file at \(file.path) was truncated: it had \(file.size) bytes when it was fetched and has \(size) now"
            : "the file at \(file.path) was edited: it had \(file.size) bytes when it was fetched and has \(size) now"
        if let rule { return skip(.filtered, "\(change); it is not asked for (\(rule))") }
        guard rules.force, !shelved.episode.isLocked else {
            return skip(
                size < file.size ? .truncated : .changed,
                "\(change); it is left alone: verify --repair or fetch --force brings it again, verify --accept takes it as it is"
            )
        }
        follows = !file.isNamedByUser
        // Not asked about: the server's version may be the one that was fetched, and the file is not.
        replace(file, partial: partial, reason: "\(change); fetched again because it is forced", asking: false)
    }

    /// Of a file that was read and found bad. What the user paused waits all the same; what failed is tried again.
    private mutating func decideAboutDamage(_ damage: String, of file: LocalFile, partial: Int64, rules: PlanRules) {
        if shelved.isGone { return keep(file, "\(damage); no longer in the catalog, so its file is kept as it is") }
        if shelved.episode.isLocked { return keep(file, "\(damage), but the catalog gives no address") }
        if let (postponed, why) = postponement(rules) { return skip(postponed, "\(damage), but \(why)") }
        replace(file, partial: partial, reason: "\(damage); fetched again", asking: false)
    }

    private mutating func replace(_ file: LocalFile, partial: Int64, reason: Message, asking: Bool) {
        fetch(.replace, reason, partial: partial)
        action.replacing = asking ? file : nil
    }

    private mutating func fetch(_ kind: SyncAction.Kind, _ reason: Message, partial: Int64) {
        decide(kind, reason, bytes: wholeLength.map { max(0, $0.subtractingSaturated(partial)) })
    }

    private mutating func decideAboutAbsence(partial: Int64, rules: PlanRules, unwantedBy rule: Message?) {
        if shelved.isGone { return skip(.gone, "no longer in the catalog, and not on disk") }
        if let rule { return skip(.filtered, "not asked for (\(rule))") }
        if shelved.episode.isLocked { return skip(.locked, "locked: the catalog gives no address") }
        if let (postponed, why) = postponement(rules) { return skip(postponed, why) }

        var reasons = [absence]
        if partial > 0 { reasons.append(Self.share(partial, of: wholeLength)) }
        if shelved.removedAt != nil { reasons.append("removed, fetched because it is forced") }
        if let transfer = shelved.transfer, transfer.state == .failed { reasons.append(Self.failed(transfer)) }
        // What is there already says that it is not on disk.
        if reasons.count > 1, shelved.file == nil { reasons.removeFirst() }
        fetch(partial > 0 ? .resume : .fetch, reasons.joined(separator: "; "), partial: partial)
    }

    private var absence: Message {
        shelved.file == nil ? "not on disk" : "deleted from disk since it was fetched"
    }

    /// What the server said once counts more than the catalog, whose sizes are sometimes stale.
    private var wholeLength: Int64? { shelved.transfer?.total ?? shelved.episode.size }

    /// Why its transfer is not for this run.
    private func postponement(_ rules: PlanRules) -> (SyncAction.Skip, Message)? {
        guard !rules.force, let transfer = shelved.transfer else { return nil }
        if transfer.state == .paused { return (.paused, "paused") }
        if damage == nil, !rules.triesAtOnce, transfer.state == .failed, let next = transfer.nextTryAt,
            transfer.waits(at: rules.now)
        {
            if transfer.isGoneAtSource, let since = transfer.missingSince {
                return (.gone, "gone at the source: the server has not had the file since \(since)")
            }
            return (.waits, "\(Self.failed(transfer)), next try \(next)")
        }
        return nil
    }

    private static func failed(_ transfer: TransferRecord) -> Message {
        switch transfer.attempts {
        case 0: "was put off"
        case 1: "failed once"
        default: "failed \(transfer.attempts) times"
        }
    }

    private static func share(_ partial: Int64, of total: Int64?) -> Message {
        guard let total, total > 0 else { return "\(describeBytes(partial)) of it are here already" }
        guard partial < total else { return "all of it is here already (\(describeBytes(partial)))" }
        let percent = Int(clamping: (Double(partial) / Double(total) * 100).rounded(.down))
        return "\(percent)% of it is here already (\(describeBytes(partial)) of \(describeBytes(total)))"
    }
}

extension LocalFile {
    /// How the catalog differs from what it said when the file was fetched. The file's own size has no say: a
    /// catalog with a stale size would have it fetched again for ever.
    /// - Parameter clockShift: seconds by which the clock of the catalog was set since.
    package func catalogChange(to episode: Episode, clockShift: Double = 0) -> Message? {
        if let then = catalogSize, let now = episode.size, then != now {
            return "the catalog's size changed from \(then) to \(now)"
        }
        if let then = catalogModifiedAt, let now = episode.modifiedAt, let shift = dateShift(to: episode),
            abs(shift - clockShift) >= 1
        {
            return "the catalog's date changed from \(then) to \(now)"
        }
        return nil
    }

    /// Seconds by which the catalog's date moved since the file was fetched; nil where it is the same or there is none.
    fileprivate func dateShift(to episode: Episode) -> Double? {
        guard let then = catalogModifiedAt, let now = episode.modifiedAt else { return nil }
        let shift = now.timeIntervalSince(then)
        // Times are stored with less precision than they are parsed with.
        return abs(shift) >= 1 ? shift : nil
    }
}

extension [EpisodeRecord] {
    /// Seconds by which the clock of the catalog was set, as for summer time: the same quarters of an hour in all dates that
    /// moved, of several files, none of which has another size. 0 where that is not so.
    var clockShift: Double {
        var shifts: [Double] = []
        for record in self where !record.isGone {
            guard let file = record.file, let shift = file.dateShift(to: record.episode) else { continue }
            if let then = file.catalogSize, then != record.episode.size ?? then { return 0 }
            shifts.append(shift.rounded())
        }
        guard shifts.count > 1, let shift = shifts.first, shifts.allSatisfy({ $0 == shift }) else { return 0 }
        // No clock is set by more: a shift of a day is the work of a nightly job.
        return shift.remainder(dividingBy: 900) == 0 && abs(shift) <= 14 * 3600 ? shift : 0
    }
}
