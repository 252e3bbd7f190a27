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
        guard let meaning = Self.day(text).map(Meaning.time) ?? parseAge(text).map(Meaning.age) else {
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
        let style = Date.ISO8601FormatStyle().year().month().day()
        guard !text.hasPrefix("0000"), let day = try? style.parse(text), day.formatted(style) == text else {
            return nil
        }
        return day
    }
}
