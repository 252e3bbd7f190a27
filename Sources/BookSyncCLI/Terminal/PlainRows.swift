import BookModel

extension TextTable {
    /// The lines of a table of as many items as memory holds, where there is neither a terminal nor colour: as
    /// ``lines(_:)`` has them.
    ///
    /// Rows are made and laid out on all cores. In between they are kept as bytes, which take a fraction of what their
    /// texts would.
    /// - Parameters:
    ///   - row: a cell for each column.
    ///   - write: gets some hundreds of lines each time.
    package static func write<Item: Sendable>(
        _ items: [Item], in columns: [Column], _ words: Wordings, row: @escaping @Sendable (Item) -> [String],
        to write: ([UInt8]) async -> Void
    ) async {
        guard !items.isEmpty else { return }
        let alignments = columns.map(\.alignment)
        let header = columns.map { words($0.title) }
        var parts: [PlainRows] = header.allSatisfy(\.isEmpty) ? [] : [PlainRows([header], columns: columns.count)]
        await items.inParts(
            make: { PlainRows($0.lazy.map(row), columns: alignments.count) }, use: { parts.append($0) })
        let widths = columns.indices.map { index in parts.reduce(0) { max($0, $1.widths[index]) } }
        await parts.inParts(of: 1, make: { $0.reduce(into: []) { $0 += $1.lines(widths, alignments) } }, use: write)
    }
}

/// Some rows of a table as bytes.
private struct PlainRows: Sendable {
    private var text: [UInt8] = []
    /// Of each cell, how many bytes and how many columns of a terminal it takes.
    private var cells: [(bytes: Int32, columns: Int32)] = []
    /// Of the columns, as far as these rows go.
    private(set) var widths: [Int]

    init(_ rows: some Sequence<[String]>, columns count: Int) {
        widths = Array(repeating: 0, count: count)
        for row in rows {
            for (index, cell) in row.enumerated() {
                let start = text.count
                let isPlain = DisplayWidth.isPlain(cell)
                text += (isPlain ? cell : DisplayWidth.printable(cell)).utf8
                let columns = isPlain ? text.count - start : DisplayWidth.columns(of: cell)
                cells.append((Int32(text.count - start), Int32(columns)))
                widths[index] = max(widths[index], columns)
            }
        }
    }

    /// Without spaces at their ends.
    func lines(_ widths: [Int], _ alignments: [TextTable.Alignment]) -> [UInt8] {
        var lines: [UInt8] = []
        lines.reserveCapacity(cells.count / widths.count * widths.reduce(0) { $0 + $1 + TextTable.gap })
        var (start, index) = (0, 0)
        for cell in cells {
            let filling = repeatElement(UInt8(ascii: " "), count: widths[index] - Int(cell.columns))
            let end = start + Int(cell.bytes)
            if index > 0 { lines += repeatElement(UInt8(ascii: " "), count: TextTable.gap) }
            if alignments[index] == .trailing { lines += filling }
            lines += text[start..<end]
            if alignments[index] == .leading { lines += filling }
            (start, index) = (end, index + 1)
            if index == widths.count {
                while lines.last == UInt8(ascii: " ") { lines.removeLast() }
                lines.append(UInt8(ascii: "\n"))
                index = 0
            }
        }
        return lines
    }
}
