import Foundation

/// Bytes as people write them: `500M`, `2G`, `1.5k`, `123`. Units are powers of 1,000; `Ki`, `Mi`, `Gi`, `Ti` of 1,024.
/// - Returns: nil when the text is no such quantity or does not fit.
package func parseByteCount(_ text: String) -> Int64? {
    let units: [String: Double] = [
        "": 1, "b": 1, "k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9, "t": 1e12, "tb": 1e12,
        "ki": 1024, "kib": 1024, "mi": 1_048_576, "mib": 1_048_576, "gi": 1_073_741_824, "gib": 1_073_741_824,
        "ti": 1_099_511_627_776, "tib": 1_099_511_627_776,
    ]
    // A floating-point number would round what is above 2^53.
    if text.allSatisfy({ $0.isASCII && $0.isNumber }) { return Int64(text) }
    return quantity(text, units: units).flatMap { Int64(exactly: $0.rounded()) }
}

/// A span of time as people write it: `10s`, `50m`, `6h`, `250ms`, `7d`; without a unit, seconds.
/// - Returns: 3,000 years at most; nil when the text is not such a span.
package func parseSeconds(_ text: String) -> Double? {
    quantity(text, units: ["": 1, "ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604_800])
        .map { min($0, 1e11) }
}

/// An age as people write it: `12h`, `30d`, `4w`, in seconds. Minutes and months are both called m, and neither is meant.
/// - Returns: nil when the text is not such an age, or is 0 or thousands of years.
package func parseAge(_ text: String) -> Double? {
    guard let unit = text.last, "hdw".contains(unit), let seconds = parseSeconds(text), seconds > 0, seconds < 1e11
    else {
        return nil
    }
    return seconds
}

private func quantity(_ text: String, units: [String: Double]) -> Double? {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = text[digits.endIndex...].drop { $0 == " " }.lowercased()
    guard let number = Double(digits), number.isFinite, let factor = units[unit] else { return nil }
    return number * factor
}

/// Bytes for people: one decimal with a unit of a power of 1,000 (`118.9 MB`, `640 B`).
package func describeBytes(_ bytes: Int64) -> String {
    var value = Double(bytes)
    var unit = "B"
    for next in ["kB", "MB", "GB", "TB", "PB"] where value >= 999.95 {
        value /= 1000
        unit = next
    }
    if unit == "B" { return "\(bytes) B" }
    let tenths = Int64((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) \(unit)"
}

/// A span of time for people: `41 s`, `3 min 5 s`, `2 h 10 min`.
package func describeSeconds(_ seconds: Double) -> String {
    let whole = Int64(max(0, min(seconds, 1e12)).rounded())
    switch whole {
    case ..<60: return "\(whole) s"
    case ..<3600: return whole % 60 == 0 ? "\(whole / 60) min" : "\(whole / 60) min \(whole % 60) s"
    default: return whole / 60 % 60 == 0 ? "\(whole / 3600) h" : "\(whole / 3600) h \(whole / 60 % 60) min"
    }
}

/// A point in audio as players show it: `4:05`, `1:02:03`.
package func describeClock(_ seconds: Double) -> String {
    let whole = Int64(max(0, min(seconds, 1e9)).rounded())
    func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
    return hours > 0 ? "\(hours):\(padded(minutes)):\(padded(rest))" : "\(minutes):\(padded(rest))"
}

/// A time for people, to the minute: `2024-05-31 18:05`.
package func describeTime(_ time: Date, in zone: TimeZone = .current) -> String {
    let style = Date.VerbatimFormatStyle(
        format:
            "\(year: .padded(4))-\(month: .twoDigits)-\(day: .twoDigits) \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits)",
        locale: Locale(identifier: "en_US_POSIX"), timeZone: zone, calendar: Calendar(identifier: .gregorian))
    return time.formatted(style)
}
