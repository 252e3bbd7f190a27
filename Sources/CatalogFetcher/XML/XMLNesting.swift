/// Which elements are open, so that ends fit beginnings.
struct XMLNesting {
    /// Levels of elements that are told of; of what is deeper the text is.
    static let maxDepth = 256
    /// Levels that are kept in mind; what is deeper is not counted any more.
    private static let maxCount = 1 << 20

    /// A hash of each open element's name, the innermost last.
    private var open: [UInt64] = []
    /// Names that may still be looked at in search of a beginning: a few for each tag, so that many ends without a
    /// beginning within many open elements take no longer than the document is long.
    private var budget = 1000

    var isEmpty: Bool { open.isEmpty }

    /// Whether an element that begins here is told of.
    var hasRoom: Bool { open.count < Self.maxDepth }

    mutating func begin(_ name: UInt64) {
        if open.count < Self.maxCount { open.append(name) }
        budget = min(budget + 32, 1 << 20)
    }

    /// - Returns: how many elements end that were told of: none where nothing of that name is open, several where the ends
    ///   of inner ones are missing.
    mutating func end(_ name: UInt64) -> Int {
        budget = min(budget + 32, 1 << 20)
        var index = open.count - 1
        while index >= 0, open[index] != name {
            guard budget > 0 else { return 0 }
            budget -= 1
            index -= 1
        }
        guard index >= 0 else { return 0 }
        let delivered = min(open.count, Self.maxDepth)
        open.removeSubrange(index...)
        return max(0, delivered - index)
    }
}
