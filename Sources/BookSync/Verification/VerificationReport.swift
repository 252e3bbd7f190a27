import BookModel
import Foundation

/// What is to be verified.
package struct VerificationRequest: Sendable {
    package var scope: TransferControl.Scope
    /// Sizes and beginnings only.
    package var isQuick: Bool
    /// Whether a verification of the same scope that was cut off is not gone on with.
    package var startsAnew: Bool
    /// Whether the audio of what is right is decoded as well.
    package var decodes: Bool

    package init(
        scope: TransferControl.Scope, isQuick: Bool = false, startsAnew: Bool = false, decodes: Bool = false
    ) {
        (self.scope, self.isQuick, self.startsAnew, self.decodes) = (scope, isQuick, startsAnew, decodes)
    }
}

/// A file that was held against its record.
package struct VerifiedFile: Sendable, Hashable {
    package var section: Int
    package var name: String
    /// As it is recorded.
    package var file: LocalFile
    package var verdict: FileVerdict
    /// Whether anything was written to it since it was fetched: then it is not replaced without being kept.
    package var wasTouched = false
    /// Of a bad one, once it was to be repaired or accepted: what came of it.
    package var repair: Repair?

    /// What came of fetching a bad file again, or of accepting it.
    package enum Repair: Sendable, Hashable {
        /// - Parameter keptAs: where the file that was replaced is now, relative to the library; nil where it was not kept.
        case repaired(keptAs: String?)
        /// The user deleted it, and by the rules that counts as removing it.
        case countsAsRemoved
        /// The record says now what it is.
        case accepted
        /// Why it is as it was.
        case left(Message)
    }

    /// What is wrong, or that nothing is.
    package var sentence: Message { verdict.sentence(recorded: file) }

    /// Whether something is wrong with it still.
    package var isBad: Bool {
        if verdict == .intact { return false }
        if case .left? = repair { return true }
        return repair == nil
    }
}

/// What came of a verification.
package struct VerificationReport: Sendable {
    package var isQuick: Bool
    /// When the round began that was gone on with; nil when it began with this call.
    package var continuesRoundOf: Date?
    /// Files that an earlier call of the same round found right, and that were not read again.
    package var verifiedBefore = 0
    package var intact = 0
    /// Bytes of the files that were looked at.
    package var bytes: Int64 = 0
    /// What was found wrong, by book and section.
    package var bad: [VerifiedFile] = []
    /// Records that were older than the tags in their files, and were brought up to date: these files count as intact.
    package var retagged: [EpisodeIdentity: LocalFile] = [:]
    /// Files that an interruption left for the next call.
    package var left = 0
    package var seconds: Double = 0
    /// Whatever keeps the command from ending well.
    package var failures: [Failure] = []

    package var checked: Int { intact + bad.count }
    package var repaired: Int { bad.count { if case .repaired? = $0.repair { true } else { false } } }
    package var accepted: Int { bad.count { $0.repair == .accepted } }
    package var stillBad: Int { bad.count(where: \.isBad) }
    /// Every file of the scope was held against its record, in this call or one before.
    package var isComplete: Bool { left == 0 }

    /// The last line: `512 files verified (5.1 GB): 510 intact, 2 bad (1 bit rot, 1 missing), 2 repaired in 4 s`.
    package var sentence: Message {
        let files = Message(checked, "file")
        var text: Message =
            isQuick
            ? "\(files) looked at (\(describeBytes(bytes))): \(intact) intact"
            : "\(files) verified (\(describeBytes(bytes))): \(intact) intact"
        // What was accepted is as it is meant to be.
        let objectionable = bad.filter { $0.repair != .accepted }
        if !objectionable.isEmpty {
            let kinds = Dictionary(grouping: objectionable, by: \.verdict.keyword).sorted { $0.key < $1.key }
            let named = kinds.map { $0.value[0].verdict.counted($0.value.count) }
            text = "\(text), \(objectionable.count) bad (\(named.joined(separator: ", ")))"
        }
        if repaired > 0 { text = "\(text), \(repaired) repaired" }
        if accepted > 0 { text = "\(text), \(accepted) accepted" }
        if verifiedBefore > 0 { text = "\(text), \(verifiedBefore) verified before the interruption" }
        if left > 0 { text = "\(text), \(left) left for the next verify" }
        return "\(text) in \(describeSeconds(seconds))"
    }

    /// The books with something bad.
    package var booksToRepair: [BookIdentity] {
        Set(bad.filter(\.verdict.isRepairable).map(\.file.episode.book)).sorted()
    }
}

extension JSONDocument {
    package init(_ report: VerificationReport, exitCode: Int) {
        self = [
            "quick": .bool(report.isQuick),
            "complete": .bool(report.isComplete),
            "continues": .init(report.continuesRoundOf),
            "bad": .array(report.bad.map(JSONDocument.init)),
            "totals": [
                "checked": .init(report.checked), "intact": .init(report.intact), "bad": .init(report.bad.count),
                "repaired": .init(report.repaired), "accepted": .init(report.accepted),
                "still_bad": .init(report.stillBad),
                "verified_before": .init(report.verifiedBefore), "left": .init(report.left),
                "bytes": .integer(report.bytes),
            ],
            "errors": .array(report.failures.map { .string($0.description) }),
            "seconds": .number(report.seconds),
            "exit_code": .init(exitCode),
        ]
    }

    private init(_ verified: VerifiedFile) {
        let file = verified.file
        var (outcome, keptAs, why): (String?, String?, Message?) = (nil, nil, nil)
        switch verified.repair {
        case .repaired(let kept): (outcome, keptAs) = ("repaired", kept)
        case .countsAsRemoved: outcome = "removed"
        case .accepted: outcome = "accepted"
        case .left(let reason): (outcome, why) = ("left", reason)
        case nil: break
        }
        var size: Int64? = file.size
        switch verified.verdict {
        case .missing, .displaced, .unreadable: size = nil
        case .truncated(let now), .longer(let now): size = now
        default: break
        }
        self = .naming(file.episode, section: verified.section, name: verified.name).adding([
            "path": .string(file.path),
            "condition": .string(verified.verdict.keyword),
            "reason": .init(verified.sentence),
            "size": .init(size),
            "recorded_size": .integer(file.size),
            "recorded_sha256": .string(file.sha256),
            "repair": .init(outcome),
            "kept_as": .init(keptAs),
            "error": .init(why),
        ])
    }
}
