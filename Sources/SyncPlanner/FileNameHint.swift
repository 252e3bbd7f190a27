import BookModel

/// What a file's or an episode's name says of the episode it stands for.
struct FileNameHint {
    /// The one number that can be its number in the book; nil where there is none, or several that could be.
    let number: Int?
    /// Its letters alone, in lower case, without the book's title.
    let words: String

    /// - Parameters:
    ///   - name: without folder and extension.
    ///   - title: the book's: numbers and words in it tell nothing of the episode.
    init(_ name: String, title: String) {
        let rest = title.isEmpty ? name : name.replacing(title, with: " ")
        self.number = Self.number(in: rest)
        self.words = String(rest.lowercased().filter(\.isLetter))
    }

    /// How much two names have in common, from 0 to 1: their pairs of neighbouring letters (Dice's coefficient). A name
    /// without letters contradicts none.
    func similarity(to other: FileNameHint) -> Double {
        if words.isEmpty || other.words.isEmpty { return Self.likely }
        if words == other.words { return 1 }
        let (one, two) = (Self.pairs(words), Self.pairs(other.words))
        guard !one.isEmpty, !two.isEmpty else {
            return words.contains(other.words) || other.words.contains(words) ? Self.likely : 0
        }
        var left = Dictionary(one.map { ($0, 1) }, uniquingKeysWith: +)
        var common = 0
        for pair in two {
            guard let count = left[pair], count > 0 else { continue }
            left[pair] = count - 1
            common += 1
        }
        return 2 * Double(common) / Double(one.count + two.count)
    }

    /// From here on two names pass for one.
    static let likely = 0.5

    private static func pairs(_ words: String) -> [String] {
        zip(words, words.dropFirst()).map { "\($0)\($1)" }
    }

    // MARK: Numbers

    private struct Run {
        var value: Int
        var before: Substring
        var after: Substring
    }

    private static func number(in text: String) -> Int? {
        if let spelled = spelledNumber(in: text) { return spelled }
        let runs = runs(in: text)
        if let first = runs.first {
            let isInFront = !first.before.contains { $0.isLetter }
            // 2024-01-05 is a day, and no episode.
            let isDay =
                first.value > 1900 && first.after.first.map { "-./".contains($0) } == true
                && first.after.dropFirst().first?.isNumber == true
            if isInFront, !isDay { return first.value }
            if isInFront { return nil }
        }
        if let marked = runs.first(where: { $0.before.last == "第" }) { return marked.value }
        let values = Set(runs.map(\.value))
        return values.count == 1 ? values.first : nil
    }

    /// Digits in a row, but for those that tell a bit rate (`64kb`) or are too long for a number.
    private static func runs(in text: String) -> [Run] {
        var runs: [Run] = []
        var rest = text[...]
        while let start = rest.firstIndex(where: isDigit) {
            let digits = rest[start...].prefix(while: isDigit)
            let after = rest[digits.endIndex...]
            let value = digits.reduce(0) { $0 &* 10 &+ ($1.wholeNumberValue ?? 0) }
            if digits.count <= 6, !after.lowercased().hasPrefix("kb") {
                runs.append(Run(value: value, before: text[..<start], after: after))
            }
            rest = after
        }
        return runs
    }

    /// Full-width digits count; numerals of other kinds (½, 七) do not.
    private static func isDigit(_ character: Character) -> Bool {
        guard let scalar = character.unicodeScalars.first, character.unicodeScalars.count == 1 else { return false }
        return ("0"..."9").contains(scalar) || ("０"..."９").contains(scalar)
    }

    /// 第一百零三集.
    private static func spelledNumber(in text: String) -> Int? {
        guard let mark = text.firstIndex(of: "第") else { return nil }
        let numeral = text[text.index(after: mark)...].prefix { $0.wholeNumberValue != nil && !isDigit($0) }
        let value = Numerals.value(of: numeral)
        return numeral.isEmpty || value > 999_999 ? nil : value
    }
}
