import BookModel

/// Rows under a header, in columns that line up.
///
/// Nothing that a row says is cut. On a terminal that is too narrow flexible cells stand below their rows, then columns that
/// may be left out are. Where that is not enough, the widest column gets what room is left, the rest of a row whose cell is
/// wider begins below it, and in the end rows are broken between words.
package struct TextTable {
    package enum Alignment {
        case leading, trailing
    }

    package struct Column {
        var title: Message
        var alignment = Alignment.leading
        /// Whether its cells stand below their rows, whole, when the table is wider than the terminal.
        var isFlexible = false
        /// Whether a terminal that is still too narrow then does without it.
        var isOptional = false
        /// Of a cell with this text.
        var color: (@Sendable (String) -> TerminalColor?)?
    }

    /// A column, and what its cell says of an item.
    package struct ItemColumn<Item>: Sendable {
        let column: Column
        let cell: @Sendable (Item) -> String

        /// - Parameters: as the properties of ``Column``.
        init(
            title: Message, _ alignment: Alignment = .leading, isFlexible: Bool = false, isOptional: Bool = false,
            color: (@Sendable (String) -> TerminalColor?)? = nil, cell: @escaping @Sendable (Item) -> String
        ) {
            column = Column(
                title: title, alignment: alignment, isFlexible: isFlexible, isOptional: isOptional, color: color)
            self.cell = cell
        }
    }

    static let gap = 2
    /// What stands below a row is indented on terminals of more columns than this.
    private static let narrow = 12
    /// What a column that is too wide is left with, or more.
    private static let minColumn = 8

    package var columns: [Column]
    /// Each with a cell for every column; missing ones count as empty.
    package var rows: [[String]] = []

    /// Two columns without titles: what something is, and what there is to say of it.
    static func pairs(_ rows: [[String]]) -> TextTable {
        TextTable(columns: [Column(title: ""), Column(title: "", isFlexible: true)], rows: rows)
    }

    /// On a terminal, with `@1`, `@2` and so on before the rows: REFs of what is listed (``ListedBooks``).
    package func numbered(_ style: OutputStyle) -> TextTable {
        guard style.width != nil else { return self }
        var table = self
        table.columns.insert(Column(title: "", alignment: .trailing), at: 0)
        table.rows = rows.enumerated().map { ["@\($0.offset + 1)"] + $0.element }
        return table
    }

    /// - Returns: the header, unless no column has a title, and the rows, without spaces at their ends; nothing where there
    ///   are no rows.
    package func lines(_ style: OutputStyle) -> [ColoredText] { entries(style).flatMap(\.self) }

    /// The same, with the lines of each row, and of the header, together.
    package func entries(_ style: OutputStyle) -> [[ColoredText]] {
        guard !rows.isEmpty else { return [] }
        let width = style.width
        let header = columns.map { style.words($0.title) }
        let all = (header.allSatisfy(\.isEmpty) ? [] : [header]) + rows
        var widths = columns.indices.map { index in
            all.reduce(0) { index < $1.count ? max($0, DisplayWidth.columns(of: $1[index])) : $0 }
        }
        let (beside, below) = division(of: widths, to: width)
        let widest = width.flatMap { Self.narrow(&widths, of: beside, to: $0) }
        let indent = String(repeating: " ", count: width ?? 0 > Self.narrow ? 4 : 0)
        return all.enumerated().map { number, row in
            func cell(_ index: Int) -> String { index < row.count ? row[index] : "" }
            func color(_ index: Int) -> TerminalColor? {
                number < all.count - rows.count ? nil : columns[index].color?(cell(index))
            }
            func line(without blanks: ClosedRange<Int>? = nil) -> ColoredText {
                var line = ColoredText()
                for (place, index) in beside.enumerated() {
                    if place > 0 { line.append(String(repeating: " ", count: Self.gap)) }
                    let text = blanks?.contains(index) == true ? "" : cell(index)
                    line.append(
                        DisplayWidth.fit(text, to: widths[index], alignment: columns[index].alignment), color(index))
                }
                line.removeSpacesAtEnd()
                return line
            }
            guard let width else { return [line()] }
            let more = below.flatMap { index in
                DisplayWidth.wrapped(cell(index), to: width - indent.count).map {
                    ColoredText(indent + $0, color(index))
                }
            }
            if let widest, DisplayWidth.columns(of: cell(widest)) > widths[widest] {
                let before = line(without: widest...columns.count).text
                let room = beside.prefix { $0 < widest }.reduce(0) { $0 + widths[$1] + Self.gap }
                let margin = String(cell(widest).prefix { $0 == " " })
                let hanging = room > 0 ? margin : margin + indent
                let parts = DisplayWidth.wrapped(cell(widest), to: width - room - hanging.count)
                let rest = line(without: 0...widest)
                return parts.enumerated().map { number, part in
                    let indented = (number == 0 ? margin : hanging) + part
                    return ColoredText(DisplayWidth.fit(number == 0 ? before : "", to: room) + indented, color(widest))
                } + (rest.text.isEmpty ? [] : [rest]) + more
            }
            let whole = line()
            let parts =
                DisplayWidth.columns(of: whole.text) <= width
                ? [whole] : DisplayWidth.wrapped(whole.text, to: width - indent.count).map { ColoredText($0) }
            return parts.prefix(1) + parts.dropFirst().map { ColoredText(indent + $0.text) } + more
        }
    }

    /// Leaves the widest column what room there is beside the others.
    /// - Returns: which one; nil where all fits, and where that is too little.
    private static func narrow(_ widths: inout [Int], of beside: [Int], to width: Int) -> Int? {
        let sum = beside.reduce(0) { $0 + widths[$1] } + gap * (beside.count - 1)
        guard sum > width, let widest = beside.max(by: { widths[$0] < widths[$1] }) else { return nil }
        let room = width - (sum - widths[widest])
        guard room >= minColumn else { return nil }
        widths[widest] = room
        return widest
    }

    /// Which columns stand beside each other, and which below: the last flexible one first, as many as have to. Then
    /// optional ones are left out, and what has nothing to say on a terminal.
    private func division(of widths: [Int], to width: Int?) -> (beside: [Int], below: [Int]) {
        guard let width else { return (Array(columns.indices), []) }
        var beside = columns.indices.filter { index in rows.contains { index < $0.count && !$0[index].isEmpty } }
        var below: [Int] = []
        while beside.reduce(0, { $0 + widths[$1] }) + Self.gap * (beside.count - 1) > width {
            if let last = beside.lastIndex(where: { columns[$0].isFlexible }) {
                below.insert(beside.remove(at: last), at: 0)
            } else if let last = beside.lastIndex(where: { columns[$0].isOptional }) {
                beside.remove(at: last)
            } else {
                break
            }
        }
        return (beside, below)
    }
}

extension Array {
    /// A table with a row for each element.
    func table(_ columns: [TextTable.ItemColumn<Element>]) -> TextTable {
        TextTable(columns: columns.map(\.column), rows: map { item in columns.map { $0.cell(item) } })
    }
}
