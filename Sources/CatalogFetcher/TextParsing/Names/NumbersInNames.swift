import BookModel

/// The numbers that names carry, in figures, in Chinese or Roman numerals, or in English words.
package enum NumbersInNames {
    /// For each name the number that tells it from its neighbours: `galaxyprimes_01_smith` is 1, and of
    /// `2001 - 01`, `2001 - 02` it is the second. Where no column has numbers that all differ, the first number counts.
    /// - Returns: nil for a name without a number, or with one of more than six digits.
    package static func numbers(in names: [String]) -> [Int?] {
        let columns = columns(of: names.map(figures))
        let telling = columns.first { Set($0).count == names.count && !$0.contains(nil) }
        return telling ?? positions(in: names) ?? columns.first ?? names.map { _ in nil }
    }

    /// The order of listening that names state: nearly all of them carry a number of their own, and the numbers run from 1
    /// (or 0) without large gaps. Years do not, nor do the last episodes of many; and the months of dates are no such numbers.
    ///
    /// One name of five, two of ten and a tenth of more may lack a number of its own: a preface, a bonus. Where it comes between
    /// two others, as 2.5 does, the names state no order.
    /// - Returns: the number of each name, nil where it has none; or nil where the names state no order.
    package static func positions(in names: [String]) -> [Int?]? {
        let mayLack = max(names.count / 10, min(2, names.count / 5))
        guard names.count > 1 else { return nil }
        for read in [figures, { figures(in: figured($0)) }, romanNumerals, englishWords] {
            // The first names tell soon that there are none.
            guard names.prefix(100).count(where: { read($0).isEmpty }) <= min(mayLack, 50) else { continue }
            let columns = columns(of: names.map(read))
            let isDated = columns.contains { Set($0).count > 1 && $0.allSatisfy { (1900...2100).contains($0 ?? 0) } }
            let column = columns.first { column in
                let numbers = Set(column.compactMap(\.self))
                guard let first = numbers.min(), let last = numbers.max() else { return false }
                return names.count - numbers.count <= mayLack && first <= 1 && last <= numbers.count * 5 / 4 + 1
            }
            guard let column, !isDated else { continue }
            // 2.5 is neither a second 2 nor 25.
            let isTelling = Set(column).count == names.count || !names.contains { $0.contains(/\d\.\d/) }
            return isTelling ? column : nil
        }
        return nil
    }

    /// The same with a number for each name: what has none of its own is 0; behind the last one, as an epilogue is, the next.
    package static func numbering(of names: [String]) -> [(number: Int, isOwn: Bool)]? {
        guard let positions = positions(in: names) else { return nil }
        let own = positions.compactMap(\.self)
        let isLastFirst = own.first ?? 0 > own.last ?? 0
        let order = isLastFirst ? Array(names.indices.reversed()) : Array(names.indices)
        let behind = order[((order.lastIndex { positions[$0] != nil } ?? 0) + 1)...]
        var numbering = positions.map { (number: $0 ?? 0, isOwn: $0 != nil) }
        for (place, index) in behind.enumerated() { numbering[index].number = (own.max() ?? 0) + place + 1 }
        return numbering
    }

    /// The first number of each name, the second, and so on; then the last, the last but one, and so on.
    private static func columns(of readings: [[Int?]]) -> some Collection<[Int?]> {
        let count = min(4, readings.lazy.map(\.count).max() ?? 0)
        return (0..<count * 2).lazy.map { column in
            readings.map { (column < count ? $0.dropFirst(column).first : $0.dropLast(column - count).last) ?? nil }
        }
    }

    private static func figures(in name: String) -> [Int?] {
        name.utf8.split { !$0.isDigit }.map { $0.count <= 6 ? Int(Substring($0)) : nil }
    }

    /// The name with figures for all numerals: `第一百零二集` becomes `第102集`, `第一〇二集` too. `上集`, `（中）` and the like are
    /// the first, the second and the third part.
    static func figured(_ name: String) -> String {
        // No numeral but ASCII's begins with a lower byte.
        guard name.utf8.contains(where: { $0 >= 0xD9 }) else { return name }
        var (figured, numeral) = ("", "")
        let characters = Array(name + "\n")
        for (index, character) in characters.enumerated() {
            if let part = part(characters, at: index) {
                figured += "\(numeral.allSatisfy(\.isASCII) ? numeral : "\(Numerals.value(of: numeral))") \(part)"
                numeral = ""
            } else if character.wholeNumberValue != nil {
                numeral.append(character)
            } else {
                figured += numeral.allSatisfy(\.isASCII) ? numeral : "\(Numerals.value(of: numeral))"
                figured.append(character)
                numeral = ""
            }
        }
        return String(figured.dropLast())
    }

    private static let parts: [Character: Int] = ["上": 1, "中": 2, "下": 3]

    private static func part(_ characters: [Character], at index: Int) -> Int? {
        guard let part = parts[characters[index]] else { return nil }
        let next = characters[index + 1]
        let isBracketed = index > 0 && "(（[【".contains(characters[index - 1]) && ")）]】".contains(next)
        let isNamed = "集部篇卷册".contains(next) && !characters[index + 2].isLetter
        return isBracketed || isNamed ? part : nil
    }

    private static func romanNumerals(in name: String) -> [Int?] {
        name.split { !$0.isLetter }.filter { Numerals.romans[$0] != nil }.map { Numerals.romans[$0] }
    }

    private static let words: [Substring: Int] = {
        let lists = [
            (1, 1, "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"),
            (1, 1, "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth"),
            (14, 1, "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"),
            (17, 1, "seventeen eighteen nineteen"),
            (20, 10, "twenty thirty forty fifty sixty seventy eighty ninety"),
            (20, 10, "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth"),
        ]
        var words: [Substring: Int] = [:]
        for (first, step, list) in lists {
            for (index, word) in list.split(separator: " ").enumerated() { words[word] = first + index * step }
        }
        return words
    }()

    /// `Chapter Twenty-One` is 21, and `the Third` 3.
    static func englishWords(in name: String) -> [Int?] {
        var (numbers, last): ([Int], Int) = ([], 0)
        for word in name.lowercased().split(whereSeparator: { !$0.isLetter }) {
            let value = words[word] ?? 0
            if last >= 20, (1...9).contains(value) { numbers.removeLast() }
            if value > 0 { numbers.append(last >= 20 && value < 10 ? last + value : value) }
            last = value
        }
        return numbers
    }
}
