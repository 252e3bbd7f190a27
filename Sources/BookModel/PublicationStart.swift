import Foundation

/// From when on episodes are wanted, as the user writes it: a day (`2024-05-31`), or an age (`30d`, `4w`, `12h`).
package struct PublicationStart: Sendable, Hashable, CustomStringConvertible {
    private enum Meaning: Sendable, Hashable {
        case time(Date)
        /// Seconds before now.
        case age(Double)
    }

    /// As it was written.
    package let description: String
    private let meaning: Meaning

    /// - Throws: ``Failure`` of kind `usage`.
    package init(parsing text: String) throws {
        guard let meaning = Self.day(text).map(Meaning.time) ?? Self.age(text).map(Meaning.age) else {
            throw Failure(
                .usage, what: "'\(text)' does not say since when", why: "it is neither a day nor an age",
                remedy: "write a day as in 2024-05-31, or an age as in 30d, 4w or 12h")
        }
        self.description = text
        self.meaning = meaning
    }

    /// When it begins: a day at midnight UTC.
    package func time(now: Date) -> Date {
        switch meaning {
        case .time(let time): time
        case .age(let seconds): now.addingTimeInterval(-seconds)
        }
    }

    private static func day(_ text: String) -> Date? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.count) == [4, 2, 2], parts.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isNumber } }) else {
            return nil
        }
        let numbers = parts.compactMap { Int($0) }
        guard let zone = TimeZone(secondsFromGMT: 0) else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let components = DateComponents(
            calendar: calendar, timeZone: zone, year: numbers[0], month: numbers[1], day: numbers[2])
        return components.isValidDate ? calendar.date(from: components) : nil
    }

    /// Minutes and months are both called m, and neither is meant.
    private static func age(_ text: String) -> Double? {
        guard let unit = text.last, "hdw".contains(unit), let seconds = parseSeconds(text), seconds > 0,
            seconds < 1e11
        else { return nil }
        return seconds
    }
}
