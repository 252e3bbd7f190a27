import BookModel
import Foundation

/// Numbers as catalogs write them, in a JSON number or in a string.
package enum JSONNumber {
    /// Exact over all of Int64, whatever the notation: `12`, `"12"`, `12.0`, `1e3`, `120e-1`.
    /// - Returns: nil when the text is no number, no whole number, or out of range.
    package static func integer(parsing text: String) -> Int64? {
        if let plain = Int64(text) { return plain }
        guard let (isNegative, digits, exponent) = decompose(text) else { return nil }
        guard !digits.isEmpty else { return 0 }
        guard exponent >= 0, digits.count + exponent <= 19 else { return nil }
        // Counted downwards, because Int64 reaches one further there.
        var value: Int64 = 0
        for digit in digits + Array(repeating: 0, count: exponent) {
            let (product, overflowed) = value.multipliedReportingOverflow(by: 10)
            let (difference, wrapped) = product.subtractingReportingOverflow(Int64(digit))
            guard !overflowed, !wrapped else { return nil }
            value = difference
        }
        guard !isNegative else { return value }
        return value == .min ? nil : -value
    }

    /// - Returns: nil when the text is no number, or none that is finite.
    static func double(parsing text: String) -> Double? {
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        guard trimmed.utf8.allSatisfy({ $0.isDigit || "+-.eE".utf8.contains($0) }),
            let value = Double(trimmed), value.isFinite
        else { return nil }
        return value
    }

    /// The number as significant digits without zeros at either end (none for zero), times ten to the exponent.
    private static func decompose(_ text: String) -> (isNegative: Bool, digits: [UInt8], exponent: Int)? {
        var rest = Substring(text.trimmingCharacters(in: .whitespaces)).utf8
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
        let whole = takeDigits(&rest)
        var fraction: [UInt8] = []
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            fraction = takeDigits(&rest)
        }
        guard !whole.isEmpty || !fraction.isEmpty else { return nil }
        var exponent = 0
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest.removeFirst()
            let isDown = rest.first == UInt8(ascii: "-")
            if isDown || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
            let written = takeDigits(&rest)
            guard !written.isEmpty else { return nil }
            // Whatever goes beyond is out of range, or zero: no page holds as many digits.
            let size = written.reduce(0) { min($0 * 10 + Int($1), 1_000_000_000) }
            exponent = isDown ? -size : size
        }
        guard rest.isEmpty else { return nil }
        exponent -= fraction.count
        var digits = Array((whole + fraction).drop { $0 == 0 })
        while digits.last == 0 {
            digits.removeLast()
            exponent += 1
        }
        return (isNegative, digits, exponent)
    }

    private static func takeDigits(_ rest: inout Substring.UTF8View) -> [UInt8] {
        let digits = rest.prefix(while: \.isDigit)
        rest = rest[digits.endIndex...]
        return digits.map { $0 - UInt8(ascii: "0") }
    }
}
