/// Dates of HTTP header fields (RFC 9110 §5.6.7), in all three forms that a recipient must understand.
package enum HTTPDate {
    /// - Returns: seconds since 1970, or nil when the text is no HTTP date.
    package static func seconds(parsing text: String) -> Int? {
        let words = text.split { " ,-".contains($0) }.map(String.init)
        // IMF-fixdate "Sun, 06 Nov 1994 08:49:37 GMT", RFC 850 "Sunday, 06-Nov-94 08:49:37 GMT",
        // asctime "Sun Nov  6 08:49:37 1994".
        if words.count == 6, words[5] == "GMT" {
            return seconds(day: words[1], month: words[2], year: words[3], time: words[4])
        }
        if words.count == 5 {
            return seconds(day: words[2], month: words[1], year: words[4], time: words[3])
        }
        return nil
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func seconds(day: String, month: String, year: String, time: String) -> Int? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
        guard let day = Int(day), (1...31).contains(day), let month = months.firstIndex(of: month),
            var year = Int(year), (0...9999).contains(year), clock.count == 3,
            let hour = clock[0], let minute = clock[1], let second = clock[2],
            (0..<24).contains(hour), (0..<60).contains(minute), (0...60).contains(second)
        else { return nil }
        if year < 100 { year += year < 70 ? 2000 : 1900 }
        return daysSince1970(year: year, month: month + 1, day: day) * 86400 + hour * 3600 + minute * 60 + second
    }

    /// Days of the proleptic Gregorian calendar, counted in years that begin with March so that the leap day is last.
    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
