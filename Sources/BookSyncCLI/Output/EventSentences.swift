import BookModel

extension SyncEvent {
    /// The line for people that stays in a log, or nil for an event that leaves none.
    ///
    /// - Parameter isVerbose: whether to tell of everything.
    func sentence(isVerbose: Bool) -> Message? {
        switch self {
        case .notice(let text), .alert(let text): return text
        case .detail(let text): return isVerbose ? text : nil
        case .planned(let plan):
            guard isVerbose else { return nil }
            let counts = plan.totals.counts ?? "nothing to do"
            return "\(plan.book.identity) \(plan.book.title): \(counts) (\(describeBytes(plan.totals.bytes)))"
        case .started(let progress):
            guard isVerbose else { return nil }
            return progress.bytesReused > 0
                ? "\(progress.name): going on from \(describeBytes(progress.bytesReused))" : "\(progress.name): begun"
        case .progressed, .advanced, .measured, .asking, .reading, .waiting, .renamed, .summarised: return nil
        case .paused(_, let name): return "paused \(name)"
        case .cancelled(_, let name): return "cancelled \(name)"
        case .finished(let receipt):
            let file: Message = "\(receipt.file.path) (\(describeBytes(receipt.file.size)))"
            let outcome: Message =
                switch receipt.outcome {
                case .fetched: "fetched \(file)"
                case .resumed: "resumed \(file)"
                case .replaced: "replaced \(file)"
                case .unchanged: "unchanged \(file)"
                }
            return ([outcome] + receipt.remarks).joined(separator: "; ")
        case .adopted(let receipt):
            return "adopted \(receipt.file.path) (\(describeBytes(receipt.file.size))): \(receipt.reason)"
        case .failed(let report): return "failed: \(report.failure)"
        }
    }

    /// Whether it tells what went well: with `--json` the line on standard output is enough.
    var isReported: Bool {
        switch self {
        case .finished, .adopted: true
        default: false
        }
    }

    /// Whether `--quiet` lets the line through.
    var isFailure: Bool {
        switch self {
        case .failed, .alert: true
        default: false
        }
    }
}
