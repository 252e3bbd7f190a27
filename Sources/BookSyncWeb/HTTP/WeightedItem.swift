/// An element of a list in which a client says what it likes best, as Accept-Language has (RFC 9110 §12.4.2).
struct WeightedItem {
    var name: Substring
    /// In thousandths, 0 to 1000.
    var quality: Int

    /// - Parameter text: the field's value, several of them joined by commas. Elements that cannot be read are skipped.
    static func items(in text: String) -> [WeightedItem] {
        // No client has more to say, and a field may be long.
        text.split(separator: ",").prefix(64).compactMap { element in
            let parts = element.split(separator: ";", omittingEmptySubsequences: false).map(trimmedField)
            guard let name = parts.first, !name.isEmpty else { return nil }
            guard parts.count > 1 else { return WeightedItem(name: name, quality: 1000) }
            guard parts.count == 2, let quality = quality(parts[1]) else { return nil }
            return WeightedItem(name: name, quality: quality)
        }
    }

    /// `q=0.8`: a number from 0 to 1 with three decimals at most (RFC 9110 §12.4.2).
    private static func quality(_ text: Substring) -> Int? {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "q" else { return nil }
        let number = parts[1].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = number.first, whole == "0" || whole == "1" else { return nil }
        let decimals = number.count == 2 ? String(number[1]) : ""
        guard decimals.utf8.count <= 3, decimals.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let thousandths = Int(decimals + String(repeating: "0", count: 3 - decimals.utf8.count)) ?? 0
        let quality = (whole == "1" ? 1000 : 0) + thousandths
        return quality <= 1000 ? quality : nil
    }
}

/// A part of a field without the white space around it (RFC 9110 §5.6.3).
func trimmedField(_ text: Substring) -> Substring {
    var text = text.drop { $0 == " " || $0 == "\t" }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return text
}
