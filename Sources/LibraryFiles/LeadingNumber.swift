import BookModel

/// The number that a name begins with so that files sort by it, as in `01 - Chapter 11`.
struct LeadingNumber {
    let value: Int
    /// The name behind the number and what separates them.
    let rest: String

    /// - Returns: nil where there is none, or it may belong to the name: `1st`, `3:10 to Yuma`, `24-7`.
    init?(of name: String) {
        guard let first = name.utf8.first, (0x30...0x39).contains(first) else { return nil }
        let digits = name.prefix { $0.isASCII && $0.isNumber }
        let rest = name[digits.endIndex...].drop { " \t._-–—:：)）、".contains($0) }
        guard let value = Int(digits), digits.count <= 4, rest.startIndex > digits.endIndex,
            let next = rest.first, !next.isNumber
        else { return nil }
        self.value = value
        self.rest = String(rest)
    }

    /// Whether the numbers of a whole book only repeat its order: every name begins with one, they rise from episode to
    /// episode, again from 1 on each disc, count no further than the book does (1914 and 1915 are years), and are not all that
    /// tells the names apart (`1. Emma`, `2. Emma`).
    /// - Parameter episodes: by section.
    static func areOrder(of episodes: [Episode]) -> Bool {
        let highest = max(episodes.count, episodes.last?.section ?? 0)
        var last: [Int?: Int] = [:]
        var rests: Set<String> = []
        for episode in episodes {
            guard let leading = LeadingNumber(of: episode.name), leading.value <= highest,
                leading.value > last[episode.season] ?? -1
            else { return false }
            last[episode.season] = leading.value
            rests.insert(leading.rest)
        }
        return episodes.count == 1 || rests.count > 1
    }
}
