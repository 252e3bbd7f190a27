/// What there is to show of a run at one moment.
package struct ProgressState: Sendable, Equatable {
    package struct Transfer: Sendable, Equatable {
        package var name: String
        package var bytes: ByteProgress

        package init(name: String, bytes: ByteProgress) {
            self.name = name
            self.bytes = bytes
        }
    }

    /// In the order in which they began.
    package var transfers: [Transfer]
    package var run: RunProgress
    /// Bytes that earlier runs brought of what this run went on with.
    package var bytesResumed: Int64 = 0
    /// What waits, and what for: a line each.
    package var waits: [Message] = []
    /// How many did not end well; nil for none.
    package var failures: Message?
}
