import BookModel
import BookSync

extension ProgressState {
    /// A line for each running transfer, one for each that waits and, last, one for the run: name, bar, percent, bytes,
    /// speed, time left. All have the same columns; where there is little room the bar goes first, then the bytes, the
    /// time, the speed.
    ///
    /// - Parameters:
    ///   - width: no line takes more columns.
    ///   - rows: no more lines; the transfers that find no room are counted in a line of their own.
    func lines(width: Int, rows: Int, in words: Wordings = Wordings(.english)) -> [ColoredText] {
        guard width > 0, rows > 0 else { return [] }
        // Broken, not cut: their ends say how long.
        let waits = self.waits.flatMap { DisplayWidth.wrapped(words($0), to: width) }
            .prefix(max(0, rows - 1 - min(transfers.count, rows / 2)))
        let roomForTransfers = rows - 1 - waits.count
        let shown = transfers.count <= roomForTransfers ? transfers.count : max(0, roomForTransfers - 1)
        let runName: [Message] = [
            "\(run.episodesDone)/\(run.episodesInAll)", failures,
            bytesResumed > 0 ? "\(describeBytes(bytesResumed)) resumed" : nil,
        ].compactMap(\.self)
        let named =
            transfers.prefix(shown).map { ($0.name, $0.bytes) } + [(words(runName.joined(separator: ", ")), run.bytes)]
        let layout = Layout(width: width, longestName: named.map { DisplayWidth.columns(of: $0.0) }.max() ?? 0)
        var lines = named.map { ColoredText(layout.line(name: $0, $1)) }
        // There is nothing to count yet.
        if run.episodesInAll == 0, !waits.isEmpty || transfers.isEmpty { lines.removeLast() }
        if shown < transfers.count, roomForTransfers > 0 {
            let rest: Message = "… and \(transfers.count - shown) more"
            lines.insert(ColoredText(DisplayWidth.truncate(words(rest), to: width)), at: shown)
        }
        let end = lines.count > shown ? lines.count - 1 : lines.count
        lines.insert(contentsOf: waits.map { ColoredText($0, .yellow) }, at: end)
        return lines
    }
}

/// Which columns there are, and how wide, for all lines of one picture.
private struct Layout {
    /// Widths that hold whatever the describing functions return.
    private static let percent = 4
    private static let speed = 10
    private static let time = 7
    private static let bytes = 17
    private static let bar = 12...42
    private static let minName = 14

    private var name: Int
    private var showsPercent = false
    private var showsSpeed = false
    private var showsTime = false
    private var showsBytes = false
    private var bar = 0

    init(width: Int, longestName: Int) {
        var room = width
        func take(_ columns: Int) -> Bool {
            guard room - columns - 1 >= Self.minName else { return false }
            room -= columns + 1
            return true
        }
        showsPercent = take(Self.percent)
        showsSpeed = showsPercent && take(Self.speed)
        showsTime = showsSpeed && take(Self.time)
        showsBytes = showsTime && take(Self.bytes)
        if showsBytes, take(Self.bar.lowerBound) { bar = Self.bar.lowerBound }
        name = min(longestName, room)
        // What the names leave over makes the bar finer.
        if bar > 0 { bar = min(Self.bar.upperBound, bar + room - name) }
    }

    func line(name text: String, _ measure: ByteProgress) -> String {
        var cells = [DisplayWidth.fit(text, to: name)]
        if bar > 0 { cells.append(drawBar(measure.fraction)) }
        if showsPercent {
            // 100% is said only of what is complete.
            let percent = measure.fraction.map { "\(Int($0 * 100))%" }
            cells.append(DisplayWidth.fit(percent ?? "", to: Self.percent, alignment: .trailing))
        }
        if showsBytes {
            let done = describeBytes(measure.bytesDone)
            let text = measure.total.map { "\(done)/\(describeBytes($0))" } ?? done
            cells.append(DisplayWidth.fit(text, to: Self.bytes, alignment: .trailing))
        }
        if showsSpeed {
            cells.append(DisplayWidth.fit(measure.speedText, to: Self.speed, alignment: .trailing))
        }
        if showsTime {
            cells.append(DisplayWidth.fit(measure.timeLeftText, to: Self.time, alignment: .trailing))
        }
        var line = Substring(cells.joined(separator: " "))
        while line.last == " " { line.removeLast() }
        return String(line)
    }

    /// ASCII only: block characters take two columns on some Chinese terminals.
    private func drawBar(_ fraction: Double?) -> String {
        let inside = bar - 2
        guard let fraction else { return "[" + String(repeating: " ", count: inside) + "]" }
        let filled = Int(fraction * Double(inside))
        let head = filled > 0 && filled < inside ? ">" : ""
        let body = String(repeating: "=", count: filled - head.count) + head
        return "[" + body + String(repeating: " ", count: inside - filled) + "]"
    }
}

extension ByteProgress {
    /// `512.0 kB/s`; nothing where it is unknown, as ``timeLeftText``.
    package var speedText: String { bytesPerSecond.map { describeBytes(Int64(clamping: $0)) + "/s" } ?? "" }

    /// `0:41`, `12:05`, `2:10:00`, `31 h`, `12 d`.
    package var timeLeftText: String {
        guard let secondsLeft else { return "" }
        let whole = Int(min(secondsLeft, 86_400 * 999).rounded(.up))
        switch whole {
        case ..<36_000: return describeClock(Double(whole))
        case ..<360_000: return "\(whole / 3600) h"
        default: return "\(whole / 86_400) d"
        }
    }
}
