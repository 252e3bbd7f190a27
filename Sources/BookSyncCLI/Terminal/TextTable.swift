/// Rows under a header, in columns that line up.
struct TextTable {
    enum Alignment {
        case leading, trailing
    }

    struct Column {
        var title: String
        var alignment: Alignment = .leading
        /// Whether it gives way when the table is wider than the terminal.
        var isFlexible = false
    }

    /// Below this many columns a flexible column gives way only when the others are as narrow.
    private static let comfortable = 12
    private static let gap = 2

    var columns: [Column]
    /// Each with a cell for every column; missing ones count as empty.
    var rows: [[String]] = []

    /// - Parameter width: columns of the terminal; nil where there is none, and nothing is cut.
    /// - Returns: the header, unless no column has a title, and the rows, without spaces at their ends.
    func lines(width: Int?) -> [String] {
        let header = columns.map(\.title)
        let all = (header.allSatisfy(\.isEmpty) ? [] : [header]) + rows
        var widths = columns.indices.map { index in
            all.reduce(0) { index < $1.count ? max($0, DisplayWidth.columns(of: $1[index])) : $0 }
        }
        if let width { shrink(&widths, to: width) }
        let total = widths.reduce(0, +) + Self.gap * max(0, columns.count - 1)
        return all.map { row in
            let cells = columns.indices.map { index in
                DisplayWidth.fit(
                    index < row.count ? row[index] : "", to: widths[index], alignment: columns[index].alignment)
            }
            var line = Substring(cells.joined(separator: String(repeating: " ", count: Self.gap)))
            while line.last == " " { line.removeLast() }
            guard let width, total > width else { return String(line) }
            return DisplayWidth.truncate(String(line), to: width)
        }
    }

    /// Takes from the widest flexible column first. What then still is too wide is cut at the end of the line.
    private func shrink(_ widths: inout [Int], to width: Int) {
        var excess = widths.reduce(0, +) + Self.gap * max(0, columns.count - 1) - width
        for least in [Self.comfortable, 1] {
            while excess > 0,
                let widest = columns.indices.filter({ columns[$0].isFlexible && widths[$0] > least })
                    .max(by: { widths[$0] < widths[$1] })
            {
                widths[widest] -= 1
                excess -= 1
            }
        }
    }
}
