/// Finds a book's title in the names of its episodes, for catalogs that don't tell it.
package enum TitleInference {
    /// Names beyond these are not looked at; they would not change the answer.
    package static let sampleSize = 1000

    /// The common part of the names once their numbering is taken away.
    ///
    /// | names | title |
    /// | --- | --- |
    /// | `第001集_回到古代当兽医`, `第002集_回到古代当兽医` | `回到古代当兽医` |
    /// | `白眉大侠 第1回 下山`, `白眉大侠 第2回 比武` | `白眉大侠` |
    /// | `001. Emma`, `002. Emma`, `Preface` | `Emma` (most of them) |
    /// | `Loomings`, `The Carpet-Bag` | nil |
    package static func title(from names: [String]) -> String? {
        let bare = names.prefix(sampleSize).map(removingNumbering).filter { !$0.isEmpty }
        guard let first = bare.first else { return nil }
        // A preface or a special must not take the title from the other 500.
        let counts = Dictionary(bare.map { ($0, 1) }, uniquingKeysWith: +)
        if let (name, count) = counts.max(by: { $0.value < $1.value }), count * 2 > bare.count {
            return name.count >= 2 ? name : nil
        }
        let prefix = commonPrefix(of: bare.map { Array($0) }, first: Array(first))
        let suffix = commonPrefix(of: bare.map { $0.reversed() }, first: first.reversed())
        let candidates = [String(prefix), String(suffix.reversed())].map(trimmed)
        return candidates.filter { $0.count >= 2 }.max { $0.count < $1.count }
    }

    private static func commonPrefix(of names: [[Character]], first: [Character]) -> [Character] {
        var length = first.count
        for name in names {
            length = zip(name.prefix(length), first).prefix { $0 == $1 }.count
        }
        var prefix = Array(first.prefix(length))
        // `Emma 11` and `Emma 12` have a digit in common that is none of the title.
        if names.contains(where: { $0.count > length && isDigit($0[length]) }) {
            while let last = prefix.last, isDigit(last) { prefix.removeLast() }
        }
        return prefix
    }

    /// Without `第001集` or `Chapter 7` wherever they stand; where there is neither, without bare numbers at the ends.
    static func removingNumbering(_ name: String) -> String {
        var characters = Array(name)
        if var range = chineseNumbering(in: characters) ?? englishNumbering(in: characters) {
            if range.lowerBound > 0, opening.contains(characters[range.lowerBound - 1]),
                range.upperBound < characters.count, closing.contains(characters[range.upperBound])
            {
                range = (range.lowerBound - 1)..<(range.upperBound + 1)
            }
            characters.replaceSubrange(range, with: ["_"])
            return trimmed(String(characters))
        }
        var rest = Substring(trimmed(name))
        let leading = rest.prefix(while: isDigit)
        // A name that is nothing but a number tells no title.
        if let next = rest.dropFirst(leading.count).first, isSeparator(next) {
            rest = rest.dropFirst(leading.count)
        }
        while let last = rest.last, isDigit(last) { rest.removeLast() }
        return trimmed(String(rest))
    }

    /// `第`, digits, and a word that counts.
    private static func chineseNumbering(in name: [Character]) -> Range<Int>? {
        for start in name.indices where name[start] == "第" {
            var end = start + 1
            while end < name.count, isDigit(name[end]) || name[end] == " " || chineseDigits.contains(name[end]) {
                end += 1
            }
            if end > start + 1, end < name.count, countingWords.contains(name[end]) { return start..<(end + 1) }
        }
        return nil
    }

    private static func englishNumbering(in name: [Character]) -> Range<Int>? {
        let lowered = name.map { $0.isASCII ? Character($0.lowercased()) : $0 }
        for word in ["chapter", "episode", "section", "track", "part", "ep"].map(Array.init) {
            for start in lowered.indices where lowered[start...].starts(with: word) {
                guard start == 0 || !lowered[start - 1].isLetter else { continue }
                var end = start + word.count
                while end < name.count, isSeparator(name[end]) { end += 1 }
                let digits = end
                while end < name.count, isDigit(name[end]) { end += 1 }
                if end > digits { return start..<end }
            }
        }
        return nil
    }

    private static let chineseDigits = Set("零〇一二三四五六七八九十百千两")
    private static let countingWords = Set("集回章节話话期讲講部分卷篇季")
    private static let separators = Set("_-—–·.、,，:：|~/ \u{3000}\u{A0}")
    private static let opening = Set("(（[【《「『<")
    private static let closing = Set(")）]】》」』>")

    private static func isDigit(_ character: Character) -> Bool { character.isASCII && character.isNumber }
    private static func isSeparator(_ character: Character) -> Bool { separators.contains(character) }

    /// Without separators at the ends, and without brackets there whose other half is gone.
    private static func trimmed(_ text: String) -> String {
        var rest = Substring(text)
        while let first = rest.first, isSeparator(first) || closing.contains(first) { rest.removeFirst() }
        while let last = rest.last, isSeparator(last) || opening.contains(last) { rest.removeLast() }
        return String(rest)
    }
}
