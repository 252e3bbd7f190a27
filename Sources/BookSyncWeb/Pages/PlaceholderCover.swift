import BookModel
import Crypto

/// A cover for a book that has none: its first characters on a colour that is always its own.
enum PlaceholderCover {
    /// An SVG picture (SVG 2); nothing in it is styled by a style sheet, which the policy of pages would not let in.
    static func picture(of title: String, _ book: BookIdentity) -> [UInt8] {
        let hash = Array(SHA256.hash(data: Array("\(book)".utf8)))
        let palette = palettes[Int(hash[2]) % palettes.count]
        let shift = 60 + Int(hash[1]) % 280
        let letters = letters(of: title)
        let lines = letters.map(MarkupText.escaped)
        let size = fontSize(letters)
        let middle = 256 + Double(size) * 0.36
        let first = middle - Double(lines.count - 1) * Double(size) * 0.58
        let text = lines.enumerated().map { index, line in
            let height = Int(first + Double(index) * Double(size) * 1.16)
            return """
                <text x="268" y="\(height)" font-size="\(size)" text-anchor="middle" fill="\(palette.ink)" \
                font-family="\(family)" font-weight="600">\(line)</text>
                """
        }
        let svg = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 512 512"><rect width="512" height="512" \
            fill="\(palette.ground)"/><circle cx="\(shift)" cy="512" r="300" fill="\(palette.shade)" \
            fill-opacity="0.55"/><rect width="26" height="512" fill="#000" fill-opacity="0.16"/>\(text.joined())</svg>
            """
        return Array(svg.utf8)
    }

    private static let family = "Georgia, 'Songti SC', 'Noto Serif CJK SC', 'Noto Serif SC', SimSun, serif"

    private static let palettes: [(ground: String, shade: String, ink: String)] = [
        ("#27564b", "#1b4239", "#f3ead7"), ("#34506e", "#263d57", "#f2ebdc"), ("#7a4a3a", "#60372a", "#f7ead9"),
        ("#5b4a6f", "#463857", "#f1e9f3"), ("#6b6436", "#534d27", "#f6f0d8"), ("#3f5f66", "#2e494f", "#eef3ee"),
        ("#7d5560", "#64414b", "#f8ebe9"), ("#4a5a3c", "#38462c", "#f2f1df"), ("#8a6a3b", "#6f532b", "#fbf2df"),
        ("#46474f", "#35363d", "#eeeae2"),
    ]

    /// Of a title in Chinese its first word, on two lines where it is long; else the first letters of two words, of those that
    /// begin small only the first one.
    static func letters(of title: String) -> [String] {
        let words = title.split { !$0.isLetter && !$0.isNumber && !"'’".contains($0) }
            .map { $0.drop { !$0.isLetter && !$0.isNumber } }.filter { !$0.isEmpty }
        guard let word = words.first, let first = word.first else { return ["·"] }
        guard isWide(first) else {
            let shown = words.prefix(1) + words.dropFirst().filter { $0.first?.isLowercase == false }.prefix(1)
            return [shown.compactMap(\.first).map { $0.uppercased() }.joined()]
        }
        let characters = word.prefix(while: isWide)
        let shown = Array(characters.prefix(characters.count <= 6 ? 6 : 4))
        guard shown.count > 2 else { return [String(shown)] }
        let middle = (shown.count + 1) / 2
        return [String(shown[..<middle]), String(shown[middle...])]
    }

    private static func fontSize(_ lines: [String]) -> Int {
        guard lines.contains(where: { $0.contains(where: isWide) }) else { return 200 }
        switch lines.map(\.count).max() ?? 1 {
        case 1: return 220
        case 2: return 150
        default: return 128
        }
    }

    private static func isWide(_ character: Character) -> Bool {
        character.unicodeScalars.first.map { (0x2E80...0xFAFF).contains($0.value) || $0.value >= 0x20000 } ?? false
    }
}
