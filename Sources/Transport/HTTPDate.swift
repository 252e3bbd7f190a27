import Foundation

/// Times as HTTP writes them (RFC 9110 §5.6.7), in whole seconds since 1970.
package enum HTTPDate {
    /// In English, from January.
    package static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static let separators = Array(" ,-:".utf8)

    /// `Sun, 06 Nov 1994 08:49:37 GMT`.
    package static func text(_ seconds: Int64) -> String {
        var (time, moment) = (time_t(seconds), tm())
        gmtime_r(&time, &moment)
        // The names are HTTP's: no process of ours leaves the locale C.
        var text = [CChar](repeating: 0, count: 64)
        let length = strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &moment)
        return String(decoding: text[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Reads the form above and the two obsolete ones: `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
    /// A year of two digits is one from 1970 to 2069.
    /// - Returns: nil when it is no such time.
    package static func seconds(parsing text: String) -> Int64? {
        var words = text.utf8.split { separators.contains($0) }.map { Substring($0) }
        guard words.count >= 7 else { return nil }
        if words.count == 7 {
            // asctime: month, day, the clock, year.
            words = [words[0], words[2], words[1], words[6], words[3], words[4], words[5], "GMT"]
        }
        guard words.count == 8, words[7] == "GMT", let month = months.firstIndex(where: { $0 == words[2] })
        else { return nil }
        let numbers = [1, 3, 4, 5, 6].compactMap { Int(words[$0]) }
        guard numbers.count == 5, (1...31).contains(numbers[0]), (0...9999).contains(numbers[1]),
            (0...23).contains(numbers[2]), (0...59).contains(numbers[3]), (0...60).contains(numbers[4])
        else { return nil }
        var year = numbers[1]
        if words[3].count == 2 { year += year < 70 ? 2000 : 1900 }
        let clock = numbers[2] * 3600 + numbers[3] * 60 + numbers[4]
        return Int64(dayNumber(year, month + 1, numbers[0])) * 86400 + Int64(clock)
    }

    /// Days since 1970-01-01 of a date in the Gregorian calendar.
    ///
    /// It counts in years that begin in March, so that the leap day is the last (H. Hinnant, "chrono-compatible low-level date
    /// algorithms"). Foundation's calendars would do the same a hundred times slower.
    package static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
