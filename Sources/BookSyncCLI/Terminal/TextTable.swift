import BookModel
import Languages

/// Rows under a header, in columns that line up.
struct TextTable {
    enum Alignment {
        case leading, trailing
    }

    struct Column {
        var title: Message
        var alignment: Alignment = .leading
        /// Whether its cells stand below their rows, whole, when the table is wider than the terminal.
        var isFlexible = false
    }

    private static let gap = 2
    /// What stands below a row is indented on terminals of more columns than this.
    private static let narrow = 12

    var columns: [Column]
    /// Each with a cell for every column; missing ones count as empty.
    var rows: [[String]] = []

    /// On a terminal, with `@1`, `@2` and so on before the rows: REFs of what is listed (``ListedBooks``).
    func numbered(_ style: OutputStyle) -> TextTable {
        guard style.width != nil else { return self }
        var table = self
        table.columns.insert(Column(title: "", alignment: .trailing), at: 0)
        table.rows = rows.enumerated().map { ["@\($0.offset + 1)"] + $0.element }
        return table
    }

    /// - Returns: the header, unless no column has a title, and the rows, without spaces at their ends.
    func lines(_ style: OutputStyle) -> [Message] {
        texts(style).map(Message.init(verbatim:))
    }

    private func texts(_ style: OutputStyle) -> [String] {
        let width = style.width
        let header = columns.map { style.words($0.title) }
        let all = (header.allSatisfy(\.isEmpty) ? [] : [header]) + rows
        let widths = columns.indices.map { index in
            all.reduce(0) { index < $1.count ? max($0, DisplayWidth.columns(of: $1[index])) : $0 }
        }
        let (beside, below) = division(of: widths, to: width ?? .max)
        let indent = String(repeating: " ", count: width ?? 0 > Self.narrow ? 4 : 0)
        return all.flatMap { row in
            func cell(_ index: Int) -> String { index < row.count ? row[index] : "" }
            let cells = beside.map { DisplayWidth.fit(cell($0), to: widths[$0], alignment: columns[$0].alignment) }
            var line = Substring(cells.joined(separator: String(repeating: " ", count: Self.gap)))
            while line.last == " " { line.removeLast() }
            guard let width else { return [String(line)] }
            let parts =
                DisplayWidth.columns(of: String(line)) <= width
                ? [String(line)] : DisplayWidth.wrapped(String(line), to: width - indent.count)
            let more = below.flatMap { DisplayWidth.wrapped(cell($0), to: width - indent.count) }
            return parts.prefix(1) + (parts.dropFirst() + more).map { indent + $0 }
        }
    }

    /// Which columns stand beside each other, and which below: the last flexible one first, as many as have to.
    private func division(of widths: [Int], to width: Int) -> (beside: [Int], below: [Int]) {
        var beside = Array(columns.indices)
        var below: [Int] = []
        while beside.reduce(0, { $0 + widths[$1] }) + Self.gap * (beside.count - 1) > width,
            let last = beside.lastIndex(where: { columns[$0].isFlexible })
        {
            below.insert(beside.remove(at: last), at: 0)
        }
        return (beside, below)
    }
}
