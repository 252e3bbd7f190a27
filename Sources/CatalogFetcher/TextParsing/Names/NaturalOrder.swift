import BookModel

/// The order in which people read file names: figures and Chinese numerals count as numbers, capitals do not count, and
/// what lies in a folder comes behind the files beside that folder.
package enum NaturalOrder {
    /// Whether one path comes before another. Total: paths that differ are never equal.
    ///
    /// - Parameters: paths as their segments.
    package static func precedes(_ one: [String], _ other: [String]) -> Bool {
        for (first, second) in zip(one.indices, other.indices) {
            let isFolder = first < one.count - 1
            guard isFolder == (second < other.count - 1) else { return !isFolder }
            switch compare(one[first], other[second]) {
            case ..<0: return true
            case 1...: return false
            default: continue
            }
        }
        return false
    }

    /// - Returns: negative, zero for the very same bytes, or positive.
    package static func compare(_ one: String, _ other: String) -> Int {
        let (left, right) = (NumbersInNames.figured(one.lowercased()), NumbersInNames.figured(other.lowercased()))
        let order = compareFolded(Array(left.utf8), Array(right.utf8))
        if order != 0 { return order }
        if one.utf8.elementsEqual(other.utf8) { return 0 }
        return one.utf8.lexicographicallyPrecedes(other.utf8) ? -1 : 1
    }

    private static func compareFolded(_ one: [UInt8], _ other: [UInt8]) -> Int {
        var first = 0
        var second = 0
        while first < one.count, second < other.count {
            guard one[first].isDigit, other[second].isDigit else {
                if one[first] != other[second] {
                    // `2.5.mp3` comes behind `2.mp3`.
                    let isBehindPoint = first > 0 && one[first - 1] == UInt8(ascii: ".")
                    if isBehindPoint, one[first].isDigit != other[second].isDigit { return one[first].isDigit ? 1 : -1 }
                    return Int(one[first]) - Int(other[second])
                }
                first += 1
                second += 1
                continue
            }
            let left = digits(one, &first)
            let right = digits(other, &second)
            // Of two numbers without zeros in front the longer one is the greater.
            if left.count != right.count { return left.count - right.count }
            if let (a, b) = zip(left, right).first(where: { $0 != $1 }) { return Int(a) - Int(b) }
        }
        return (one.count - first) - (other.count - second)
    }

    private static func digits(_ text: [UInt8], _ position: inout Int) -> ArraySlice<UInt8> {
        let start = position
        while position < text.count, text[position].isDigit { position += 1 }
        return text[start..<position].drop { $0 == UInt8(ascii: "0") }
    }
}
