import BookModel
import Foundation

/// Numbers as catalogs write them, in a JSON number or in a string.
package enum JSONNumber {
    /// Exact over all of Int64, whatever the notation: `12`, `"12"`, `12.0`, `1e3`, `120e-1`.
    /// - Returns: nil when the text is no number, no whole number, or out of range.
    package static func integer(parsing text: String) -> Int64? {
        if let plain = Int64(text) { return plain }
        guard let (number, _) = checked(text) else { return nil }
        // Zero, whatever its exponent is: a `Decimal` has none that is as large.
        if number.prefix(while: { !"eE".contains($0) }).allSatisfy({ "+-.0".contains($0) }) { return 0 }
        return Decimal(string: number).flatMap { Int64($0.description) }
    }

    /// - Returns: nil when the text is no number, or none that is finite.
    static func double(parsing text: String) -> Double? { checked(text)?.value }

    /// The number without white space around it, where the whole of it is one: `Decimal` would read the beginning of others.
    private static func checked(_ text: String) -> (text: String, value: Double)? {
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        guard trimmed.utf8.allSatisfy({ $0.isDigit || "+-.eE".utf8.contains($0) }),
            let value = Double(trimmed), value.isFinite
        else { return nil }
        return (trimmed, value)
    }
}
