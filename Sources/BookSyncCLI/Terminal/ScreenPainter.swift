/// Works out the bytes that replace the lines at the foot of a terminal by others. Pure: it writes nothing itself.
///
/// The cursor always rests at the start of the row below the last line, so that a run that is killed leaves it where
/// the shell expects it. Nothing is hidden and no mode is switched that would have to be restored.
package struct ScreenPainter {
    private static let escape = "\u{1B}["

    /// Columns of each line that stands there.
    private var drawn: [Int] = []

    /// - Parameters:
    ///   - log: goes above, and stays.
    ///   - color: of the log's first word.
    ///   - lines: what stands at the foot from now on; none clears it.
    ///   - width: columns of the terminal now.
    ///   - usesColor: whether the lines may be coloured.
    package mutating func paint(
        log: [String] = [], firstWordIn color: TerminalColor? = nil, lines: [ColoredText], width: Int,
        usesColor: Bool = false
    ) -> String {
        var output = "\r"
        // A terminal that became narrower has broken the lines over several rows.
        let rows = drawn.reduce(0) { $0 + max(1, ($1 + width - 1) / max(1, width)) }
        if rows > 0 { output += "\(Self.escape)\(rows)A" }
        // Cleared line by line as it is overwritten, it doesn't flicker. After a break, though, nothing is where it
        // was, and a log line may take several rows.
        if rows != drawn.count || !log.isEmpty { output += "\(Self.escape)J" }
        for (index, line) in log.enumerated() {
            let line = DisplayWidth.printable(line)
            output += (index == 0 ? color?.applied(toFirstWordOf: line) : nil) ?? line
            output += "\n"
        }
        for line in lines { output += line.shown(usesColor: usesColor) + "\(Self.escape)K\n" }
        if rows > lines.count { output += "\(Self.escape)J" }
        drawn = lines.map { DisplayWidth.columns(of: $0.text) }
        return output
    }
}
