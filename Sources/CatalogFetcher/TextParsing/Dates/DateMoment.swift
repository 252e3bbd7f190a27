import Foundation
import Transport

/// A date and a time of day somewhere.
struct DateMoment {
    var year: Int
    var month = 1
    var day = 1
    var hour = 0
    var minute = 0
    var second = 0.0
    /// Seconds east of Greenwich.
    var offset = 0

    /// Whether the calendar has the day, and the day the time; a leap second is one.
    var isValid: Bool {
        guard (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day), (0...23).contains(hour),
            (0...59).contains(minute), second >= 0, second < 61
        else { return false }
        return day <= Self.days(ofMonth: month, year)
    }

    static func days(ofMonth month: Int, _ year: Int) -> Int {
        let next = month == 12 ? (year + 1, 1) : (year, month + 1)
        return HTTPDate.dayNumber(next.0, next.1, 1) - HTTPDate.dayNumber(year, month, 1)
    }

    var seconds: Double {
        Double(HTTPDate.dayNumber(year, month, day) * 86400 + hour * 3600 + minute * 60 - offset) + second
    }

    /// Takes over `h:mm`, `h:mm:ss` and `h:mm:ss.fff`.
    /// - Returns: whether it is one of these.
    mutating func setClock(_ text: Substring) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, let hour = DateWords.number(parts[0], digits: 1...2),
            let minute = DateWords.number(parts[1], digits: 1...2)
        else { return false }
        (self.hour, self.minute) = (hour, minute)
        guard parts.count == 3 else { return true }
        let sides = parts[2].split(separator: ".", omittingEmptySubsequences: false)
        guard sides.count <= 2, let second = DateWords.number(sides[0], digits: 1...2) else { return false }
        self.second = Double(second)
        if sides.count == 2 {
            guard let fraction = DateWords.number(sides[1], digits: 1...9) else { return false }
            self.second += Double(fraction) / pow(10, Double(sides[1].count))
        }
        return true
    }
}
