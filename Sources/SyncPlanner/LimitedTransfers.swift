import BookModel

extension RunLimits {
    /// Transfers in their order, as far as the limits let them begin, and the others as what is left for the next run.
    /// From the first one on that does not fit everything is left, so that a book grows in its order.
    func divide(_ transfers: [SyncAction]) -> (begun: [SyncAction], left: [SyncAction]) {
        var bytes: Int64 = 0
        for (index, transfer) in transfers.enumerated() {
            // Of a length that nobody knows, there is a byte at least.
            guard allow(episodes: index + 1, bytes: bytes.addingSaturated(transfer.bytes ?? 1)) else {
                let why = index == episodes ? "max-episodes" : "max-bytes"
                return (Array(transfers[..<index]), transfers[index...].map { $0.left(because: why) })
            }
            bytes.addSaturated(transfer.bytes ?? 0)
        }
        return (transfers, [])
    }
}

extension SyncAction {
    fileprivate func left(because limit: String) -> SyncAction {
        var action = self
        action.kind = .skip(.limited)
        action.reason = "left for the next run, which the \(limit) of its subscription asks for; \(reason)"
        action.replacing = nil
        return action
    }
}
