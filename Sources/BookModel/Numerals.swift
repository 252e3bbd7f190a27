/// Numbers that are written in numerals: Chinese and Roman ones.
package enum Numerals {
    /// The number of some Chinese numerals in a row: `一百零二`, and `一〇二` too.
    ///
    /// Digits stand for themselves, and before a ten, a hundred or a thousand for so many of them.
    package static func value(of numeral: some StringProtocol) -> Int {
        var (sum, digits) = (0, 0)
        for value in numeral.compactMap(\.wholeNumberValue) {
            if value < 10 {
                digits = digits.multipliedSaturated(by: 10).addingSaturated(value)
            } else {
                sum.addSaturated(max(1, digits).multipliedSaturated(by: value))
                digits = 0
            }
        }
        return sum.addingSaturated(digits)
    }

    /// From 1 to 399, in upper case.
    package static let romans: [Substring: Int] = {
        let tens = ["", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX", "XC"]
        let ones = ["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"]
        var romans: [Substring: Int] = [:]
        for number in 1..<400 {
            let hundreds = String(repeating: "C", count: number / 100)
            romans[Substring(hundreds + tens[number / 10 % 10] + ones[number % 10])] = number
        }
        return romans
    }()
}
