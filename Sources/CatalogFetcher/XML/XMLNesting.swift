/// Which elements are open, so that ends fit beginnings.
struct XMLNesting {
    /// A hash of each open element's name, the innermost last.
    private var open: [UInt64] = []
    /// Names that may still be looked at in search of a beginning: a few for each tag, so that many ends without a
    /// beginning within many open elements take no longer than the document is long.
    private var budget = 1000
    /// Levels that are kept in mind; what is deeper is not counted any more.
    private static let greatestCount = 1 << 20

    var isEmpty: Bool { open.isEmpty }

    /// Puts a tag in order that was written to the end of `output`, or takes it away.
    /// - Parameter start: where its `<` is.
    mutating func place(tagAt start: Int, in output: inout [UInt8]) {
        budget = min(budget + 32, 1 << 20)
        let tag = output.withUnsafeBufferPointer { XMLTag(UnsafeBufferPointer(rebasing: $0[start...])) }
        switch tag.kind {
        case .end where tag.isWellFormed && open.last == tag.hash && open.count <= XMLCleaner.greatestDepth:
            open.removeLast()
        case .end:
            output.removeSubrange(start...)
            close(tag.hash, in: &output)
        case .empty where open.count < XMLCleaner.greatestDepth, .start where open.count < XMLCleaner.greatestDepth:
            if !tag.isWellFormed { XMLTag.rebuild(&output, from: start) }
            if tag.kind == .start { open.append(tag.hash) }
        case .empty: output.removeSubrange(start...)
        case .start:
            output.removeSubrange(start...)
            if open.count < Self.greatestCount { open.append(tag.hash) }
        }
    }

    private mutating func close(_ hash: UInt64, in output: inout [UInt8]) {
        var index = open.count - 1
        while index >= 0, open[index] != hash {
            guard budget > 0 else { return }
            budget -= 1
            index -= 1
        }
        guard index >= 0 else { return }
        // An element's end may be written under any name: the parser ends the innermost.
        for level in (index..<open.count).reversed() where level < XMLCleaner.greatestDepth { output += Self.end }
        open.removeSubrange(index...)
    }

    private static let end = Array("</e>".utf8)
}
