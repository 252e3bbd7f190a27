import BookModel

/// Dates with the month as a word, in whatever order: RFC 822, `ctime`, RFC 850, and Perforce's with slashes.
///
/// Each word says by its looks what it is; one that is nothing makes the whole none, but for a first one, which is a
/// weekday in some language, and for one behind the time, which is a zone that nobody knows.
struct WordDateReader {
    private var year: Int?
    private var month: Int?
    private var day: Int?
    private var clock = DateMoment(year: 1)
    private var hasClock = false
    private var offset: Int?
    private var isAfternoon: Bool?

    static func read(_ text: String) -> DateMoment? {
        var reader = WordDateReader()
        // `(EDT)` repeats what the offset says.
        let bare = text.prefix { $0 != "(" }
        let words = bare.split { $0 == " " || $0 == "," || $0 == "\t" || $0 == "\n" || $0 == "\u{A0}" }
        for (index, word) in words.enumerated() {
            let isWeekday = word.endIndex < bare.endIndex && bare[word.endIndex] == "," && index == 0
            guard isWeekday && !word.contains(where: \.isNumber) || reader.take(word) || index == 0 else { return nil }
        }
        guard let year = reader.year, let month = reader.month, let day = reader.day else { return nil }
        var moment = reader.clock
        moment.year = year
        moment.month = month
        moment.day = day
        moment.offset = reader.offset ?? 0
        if let isAfternoon = reader.isAfternoon, (1...12).contains(moment.hour) {
            moment.hour = moment.hour % 12 + (isAfternoon ? 12 : 0)
        }
        return moment.isValid ? moment : nil
    }

    private mutating func take(_ word: Substring) -> Bool {
        guard let first = word.utf8.first else { return true }
        if first == UInt8(ascii: "+") || first == UInt8(ascii: "-") { return takeOffset(word) }
        guard first.isDigit else { return takeWord(word) }
        if word.utf8.contains(UInt8(ascii: ":")) { return takeClock(word) }
        if word.utf8.contains(UInt8(ascii: "/")) {
            return takeDate(word.split(separator: "/", omittingEmptySubsequences: false))
        }
        if word.utf8.contains(UInt8(ascii: "-")) {
            return takeDate(word.split(separator: "-", omittingEmptySubsequences: false))
        }
        return takeNumber(word)
    }

    private mutating func takeNumber(_ word: Substring) -> Bool {
        let digits = word.prefix { $0.isASCII && $0.isNumber }
        let suffix = word[digits.endIndex...].lowercased()
        guard let number = DateWords.number(digits, digits: 1...4), ["", "st", "nd", "rd", "th"].contains(suffix)
        else { return false }
        if digits.count <= 2, day == nil {
            day = number
        } else if year == nil, suffix.isEmpty {
            year = DateWords.year(number, digits: digits.count)
        } else {
            return false
        }
        return true
    }

    /// `2006/09/15`, `06-Nov-94`, `2006-09-15`.
    private mutating func takeDate(_ parts: [Substring]) -> Bool {
        guard parts.count == 3, year == nil, month == nil, day == nil else { return false }
        let isYearFirst = parts[0].count == 4
        let yearText = isYearFirst ? parts[0] : parts[2]
        guard let number = DateWords.number(yearText, digits: 2...4),
            let dayNumber = DateWords.number(isYearFirst ? parts[2] : parts[0], digits: 1...2),
            // `03/04/2006` is one day in America and another one elsewhere.
            let month = DateWords.month(parts[1]) ?? (isYearFirst ? DateWords.number(parts[1], digits: 1...2) : nil)
        else { return false }
        self.year = DateWords.year(number, digits: yearText.count)
        self.month = month
        self.day = dayNumber
        return true
    }

    private mutating func takeClock(_ word: Substring) -> Bool {
        guard !hasClock else { return false }
        let digits = word.prefix { $0.isASCII && $0.isNumber || $0 == ":" || $0 == "." }
        hasClock = true
        guard clock.setClock(digits) else { return false }
        let rest = word[digits.endIndex...]
        return rest.isEmpty || takeHalf(rest) || takeOffset(rest)
    }

    private mutating func takeHalf(_ word: Substring) -> Bool {
        switch word.lowercased() {
        case "am", "a.m.": isAfternoon = false
        case "pm", "p.m.": isAfternoon = true
        default: return false
        }
        return true
    }

    private mutating func takeOffset(_ word: Substring) -> Bool {
        guard let read = DateWords.offset(word) else { return false }
        offset = offset ?? read
        return true
    }

    private mutating func takeWord(_ word: Substring) -> Bool {
        if month == nil, let number = DateWords.month(word) {
            month = number
            return true
        }
        if hasClock, takeHalf(word) || takeOffset(word) { return true }
        return hasClock && year != nil && word.count <= 5 && word.allSatisfy { $0.isASCII && $0.isUppercase }
    }
}
