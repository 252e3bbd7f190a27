import BookModel
import Foundation

/// Points in time as catalogs write them: RFC 822 with all that is made of it, ISO 8601 and its relatives, `ctime`.
///
/// Whatever cannot be read as a date for certain is none: an unreadable date must never make an episode look new.
package enum CatalogDate {
    /// The years 1800 to 2199, UTC. What is dated otherwise, as in the year 1 or 2720, has no date: a date of nonsense would
    /// order episodes.
    private static let sensibleYears = -5_364_662_400.0..<7_258_118_400.0

    /// - Returns: seconds since 1970; without a zone the time is taken as UTC.
    package static func seconds(parsing text: String) -> Double? {
        guard let seconds = anySeconds(parsing: text), sensibleYears.contains(seconds) else { return nil }
        return seconds
    }

    private static func anySeconds(parsing text: String) -> Double? {
        if let seconds = commonForm(text) { return seconds }
        let text = CatalogText.trimmed(text)
        guard !text.isEmpty, text.utf8.count <= 100 else { return nil }
        if let first = text.utf8.first, first.isDigit || first == UInt8(ascii: "-") || ISODateReader.hasUnits(text) {
            if let moment = ISODateReader.read(text) { return moment.seconds }
        }
        return WordDateReader.read(text)?.seconds
    }

    static func date(parsing text: String) -> Date? {
        seconds(parsing: text).map { Date(timeIntervalSince1970: $0) }
    }

    /// `Mon, 06 Sep 2010 10:00:00 +0000`, or `GMT`: nearly all there are, read without a detour.
    private static func commonForm(_ text: String) -> Double? {
        var text = text
        return text.withUTF8 { bytes -> Double? in
            guard bytes.count == 29 || bytes.count == 31, bytes[3] == 0x2C, bytes[4] == 0x20, bytes[7] == 0x20,
                bytes[11] == 0x20, bytes[16] == 0x20, bytes[19] == 0x3A, bytes[22] == 0x3A, bytes[25] == 0x20,
                let day = number(bytes, 5, 2), let year = number(bytes, 12, 4), let hour = number(bytes, 17, 2),
                let minute = number(bytes, 20, 2), let second = number(bytes, 23, 2),
                let month = DateWords.englishMonth(bytes[8], bytes[9], bytes[10])
            else { return nil }
            var moment = DateMoment(
                year: year, month: month, day: day, hour: hour, minute: minute, second: Double(second))
            if bytes.count == 29 {
                guard bytes[26] == 0x47, bytes[27] == 0x4D, bytes[28] == 0x54 else { return nil }
            } else {
                guard bytes[26] == 0x2B || bytes[26] == 0x2D, let hours = number(bytes, 27, 2),
                    let minutes = number(bytes, 29, 2), hours < 24, minutes < 60
                else { return nil }
                moment.offset = (hours * 3600 + minutes * 60) * (bytes[26] == 0x2D ? -1 : 1)
            }
            return moment.isValid ? moment.seconds : nil
        }
    }

    private static func number(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ count: Int) -> Int? {
        var number = 0
        for byte in bytes[start..<(start + count)] {
            guard byte.isDigit else { return nil }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return number
    }
}
