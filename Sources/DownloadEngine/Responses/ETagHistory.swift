import BookModel

/// Tells a server whose entity tags mean nothing, since they differ from answer to answer (or from node to node), from
/// one whose file was changed.
struct ETagHistory: Equatable, Sendable {
    private var last: ContentValidator?
    private var changes = 0
    private var changedAlone = false

    /// - Parameter validator: of the next answer; one without a tag tells nothing.
    mutating func record(_ validator: ContentValidator) {
        guard let tag = validator.entityTag else { return }
        defer { last = validator }
        guard let last, last.entityTag != tag else { return }
        changes += 1
        if let modified = validator.lastModified, modified == last.lastModified { changedAlone = true }
    }

    /// Whether the tag changed while the modification time did not, or changed twice within one transfer.
    var areUnsteady: Bool { changedAlone || changes > 1 }
}
