import Foundation

/// Dates that begin with the year in digits: ISO 8601 as far as it is used, and what resembles it.
///
/// | form | example |
/// | --- | --- |
/// | year, month, day | `2003`, `2003-12`, `2003-12-31`, `20031231`, `03-12-31`, `031231`, `-0312`, `-03-12` |
/// | year and day of the year | `2003-335`, `03335` |
/// | with a time | `2003-12-31T10:14:55.1234Z`, `2004-07-08 23:56:58 -00:20`, `1994-11-05T08:15` |
/// | Hungarian and Korean | `2004-július-13T9:15-05:00`, `2004-05-25 오후 11:23:17`, `2004년 05월 28일  01:31:15` |
/// | Chinese and Japanese | `2024年3月5日`, `２０２４年３月５日（火）`, `2024年3月5日 星期二 下午3:20`, `2024年3月5日 15时20分` |
enum ISODateReader {
    static func read(_ text: String) -> DateMoment? {
        var text = Substring(text)
        let isKorean = text.unicodeScalars.contains { (0xAC00...0xD7A3).contains($0.value) }
        if isKorean || hasUnits(String(text)) { text = Substring(withoutUnits(String(text))) }
        let date = text.prefix { $0 != "T" && $0 != "t" && $0 != " " }
        guard var moment = readDate(date) else { return nil }
        var rest = text[date.endIndex...].drop { $0 == " " || $0 == "T" || $0 == "t" }
        guard !rest.isEmpty else { return date.endIndex == text.endIndex && moment.isValid ? moment : nil }
        let half = ["am", "pm"].first { rest.lowercased().hasPrefix($0) }
        if half != nil { rest = rest.dropFirst(2).drop { $0 == " " } }
        let clock = rest.prefix { $0.isASCII && $0.isNumber || $0 == ":" || $0 == "." }
        guard moment.setClock(clock) else { return nil }
        if let half, (1...12).contains(moment.hour) { moment.hour = moment.hour % 12 + (half == "pm" ? 12 : 0) }
        let zone = rest[clock.endIndex...].drop { $0 == " " }
        if zone.isEmpty {
            moment.offset = isKorean ? 9 * 3600 : 0
        } else {
            guard let offset = DateWords.offset(zone) else { return nil }
            moment.offset = offset
        }
        return moment.isValid ? moment : nil
    }

    /// True if the parts of a date are named as in Chinese and Japanese.
    static func hasUnits(_ text: String) -> Bool { text.contains("年") && text.contains("月") }

    /// With digits of ASCII, and the units, weekdays and halves of a day as ISO 8601 and English have them.
    private static func withoutUnits(_ text: String) -> String {
        text.precomposedStringWithCompatibilityMapping
            .replacing(/\(.*?\)|(?:星期|周|週|礼拜)[一二三四五六日天]|[月火水木金土日]曜日?/, with: " ")
            .replacing(/\s*[年년월月]\s*/, with: "-").replacing(/-?\s*[日号일]\s*/, with: " ")
            .replacing(/(?:下午|午後|오후)\s*/, with: "pm ").replacing(/(?:上午|午前|오전)\s*/, with: "am ")
            .replacing(/[时時点](?=\d)|分(?=\d)/, with: ":").replacing(/[时時点]/, with: ":00").replacing(/[分秒]/, with: "")
            .trimmingCharacters(in: .whitespaces)
    }

    private static func readDate(_ text: Substring) -> DateMoment? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        if parts.first?.isEmpty == true {
            // A missing century: `-0312`, `-03-12`.
            switch parts.dropFirst().map(\.count) {
            case [4]: return moment(parts[1].prefix(2), parts[1].dropFirst(2))
            case [2, 2]: return moment(parts[1], parts[2])
            default: return nil
            }
        }
        switch parts.count {
        case 1: return readDigits(parts[0])
        case 2 where parts[1].count == 3: return ordinal(parts[0], parts[1])
        case 2: return moment(parts[0], parts[1])
        case 3: return moment(parts[0], parts[1], parts[2])
        default: return nil
        }
    }

    private static func readDigits(_ text: Substring) -> DateMoment? {
        switch text.count {
        case 4: moment(text, "01")
        case 5: ordinal(text.prefix(2), text.dropFirst(2))
        case 6: moment(text.prefix(2), text.dropFirst(2).prefix(2), text.dropFirst(4))
        case 7: ordinal(text.prefix(4), text.dropFirst(4))
        case 8: moment(text.prefix(4), text.dropFirst(4).prefix(2), text.dropFirst(6))
        default: nil
        }
    }

    private static func moment(_ year: Substring, _ month: Substring, _ day: Substring = "01") -> DateMoment? {
        guard year.count == 4 || year.count == 2, let number = DateWords.number(year, digits: 2...4),
            let month = DateWords.number(month, digits: 1...3) ?? DateWords.month(month),
            let day = DateWords.number(day, digits: 1...2)
        else { return nil }
        return DateMoment(year: DateWords.year(number, digits: year.count), month: month, day: day)
    }

    private static func ordinal(_ year: Substring, _ day: Substring) -> DateMoment? {
        guard var moment = moment(year, "01"), let number = DateWords.number(day, digits: 3...3), number > 0 else {
            return nil
        }
        moment.day = number
        for month in 1...12 {
            moment.month = month
            let days = DateMoment.days(ofMonth: month, moment.year)
            if moment.day <= days { return moment }
            moment.day -= days
        }
        return nil
    }
}
