import Foundation

// A number from outside (a catalog, a header, a file's attributes, the store, an option, the clock) can be any number. It is
// clamped where it is read, and arithmetic on it saturates: `+`, `-`, `*`, `Int(double)` and `-number` end the process when
// the result does not fit.

extension FixedWidthInteger {
    /// The sum, or the closest number that fits.
    package func addingSaturated(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the closest number that fits.
    package func subtractingSaturated(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    /// The product, or the closest number that fits.
    package func multipliedSaturated(by other: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }

    package mutating func addSaturated(_ other: Self) { self = addingSaturated(other) }

    /// The closest whole number that fits; 0 for NaN.
    package init(clamping number: Double) {
        self = Self(exactly: number.rounded()) ?? (number < 0 ? .min : number > 0 ? .max : 0)
    }
}

extension Sequence {
    /// The sum, or the closest number that fits.
    package func saturatedSum<Number: FixedWidthInteger>(of number: (Element) -> Number) -> Number {
        reduce(0) { $0.addingSaturated(number($1)) }
    }
}

extension Date {
    /// The closest time in the years 1 to 9999: calendars end the process far outside of them.
    package init(clamping secondsSince1970: Double) {
        self.init(timeIntervalSince1970: min(253_402_300_799, max(-62_135_596_800, secondsSince1970)))
    }
}
