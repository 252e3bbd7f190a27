@testable import BookSyncCLI

/// A terminal's screen, as far as the display uses it: text, `\r`, `\n`, cursor up, cursor to the top left, clear to the
/// end of the line or of the screen. Wraps long lines, and scrolls what leaves at the top into `scrolledOut`.
struct VirtualTerminal {
    private(set) var rows: [[Character]] = [[]]
    private(set) var row = 0
    private(set) var column = 0
    private(set) var oddities: [String] = []
    var width: Int

    init(width: Int) { self.width = width }

    /// Without spaces at the ends and empty rows at the foot.
    var text: [String] {
        var lines = rows.map { line in
            var line = line.filter { $0 != "\u{0}" }
            while line.last == " " { line.removeLast() }
            return String(line)
        }
        while lines.last == "" { lines.removeLast() }
        return lines
    }

    mutating func feed(_ output: String) {
        var rest = Substring(output)
        while let character = rest.popFirst() {
            switch character {
            case "\r": column = 0
            case "\n", "\r\n":
                row += 1
                column = 0
                if row == rows.count { rows.append([]) }
            case "\u{1B}":
                guard rest.popFirst() == "[" else {
                    oddities.append("an escape that is no control sequence")
                    continue
                }
                let digits = rest.prefix(while: \.isNumber)
                rest = rest.dropFirst(digits.count)
                control(rest.popFirst() ?? "?", Int(digits) ?? 1)
            default: put(character)
            }
        }
    }

    private mutating func control(_ final: Character, _ count: Int) {
        switch final {
        case "A":
            if count > row { oddities.append("\(count) up from row \(row)") }
            row = max(0, row - count)
        case "H": (row, column) = (0, 0)
        case "K": rows[row].removeSubrange(min(column, rows[row].count)...)
        case "J":
            rows[row].removeSubrange(min(column, rows[row].count)...)
            rows.removeSubrange((row + 1)...)
        // Colours take no room.
        case "m": break
        default: oddities.append("control sequence \(final)")
        }
    }

    private mutating func put(_ character: Character) {
        let columns = DisplayWidth.columns(of: character)
        if column + columns > width {
            row += 1
            column = 0
            if row == rows.count { rows.append([]) }
        }
        while rows[row].count < column + columns { rows[row].append(" ") }
        rows[row][column] = character
        // The second cell of a wide character.
        for extra in 1..<max(2, columns) where extra < columns { rows[row][column + extra] = "\u{0}" }
        column += columns
    }

    /// As terminals do that keep lines whole: what is wider than the new width is broken, the cursor goes along.
    mutating func resize(to newWidth: Int) {
        var reflowed: [[Character]] = []
        var newRow = 0
        for (index, line) in rows.enumerated() {
            if index == row { newRow = reflowed.count }
            var rest = line[...]
            repeat {
                reflowed.append(Array(rest.prefix(newWidth)))
                rest = rest.dropFirst(newWidth)
            } while !rest.isEmpty
        }
        rows = reflowed
        row = newRow
        width = newWidth
    }
}
