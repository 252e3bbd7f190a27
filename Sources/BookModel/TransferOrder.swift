/// In which order the transfers of a plan are begun.
package enum TransferOrder: String, Sendable, CaseIterable {
    /// The lowest section number first (FIFO).
    case first
    /// The highest section number first (LIFO).
    case last
    /// As the catalog lists them.
    case listed
}
