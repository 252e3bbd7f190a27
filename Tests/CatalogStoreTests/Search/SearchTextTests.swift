import Testing

@testable import CatalogStore

@Suite struct SearchTextTests {
    /// The text as it is compared, with `|` where two atoms meet.
    private func folded(_ text: String) -> String {
        String(
            decoding: SearchText(text).bytes.map { $0 == SearchText.tokenBoundary ? UInt8(ascii: "|") : $0 },
            as: UTF8.self)
    }

    @Test(arguments: [
        ("第001集_回到古代当兽医", "第|1|集 回到古代当兽医"),
        ("Chapter 12: The Hound", "chapter 12 the hound"),
        ("  --  ", ""), ("", ""), ("0", "0"), ("000", "0"), ("0070", "70"), ("100", "100"), ("10203", "10203"),
        ("Don't stop", "dont stop"), ("l’été", "lete"),
        ("Ünïcödé Ærø ßtraße Łódź", "unicode aero sstrasse lodz"),
        ("ＡＢＣ　１２", "abc 12"), ("ﾊﾟﾝ", "パン"), ("か\u{3099}", "が"), ("ﬁne", "fine"),
        ("ЁЖИК Ёлка", "ежик елка"), ("ΆΛΦΑ", "αλφα"),
        ("MP3版", "mp|3|版"), ("😀 book", "😀 book"), ("👨‍👩‍👧", "👨👩👧"), ("٣٤", "34"),
        ("第一集（上）", "第一集 上"), ("a\u{200B}b", "ab"), ("\u{FEFF}x\u{0}y", "x y"), ("한국어 책", "한국어 책"),
        ("《萧十一狼》·下", "萧十一狼 下"),
    ])
    func `a name is compared without what people do not type`(text: String, expected: String) {
        // By bytes: strings are equal that only mean the same.
        #expect(Array(folded(text).utf8) == Array(expected.utf8))
    }

    @Test(arguments: [
        ("第001集_回到古代", "第 1 集 回到 到古 古代 代 "), ("兽", "兽 "), ("The Hound 12", "the hound 12 "), ("", ""),
        ("𠀀𠀁", "𠀀𠀁 𠀁 "), ("Müller", "muller "),
    ])
    func `any two neighbours are a token, and so is the last character`(text: String, expected: String) {
        #expect(SearchText(text).indexed == expected)
    }

    @Test func `folding what is folded changes nothing`() {
        for text in ["第001集_回到古代当兽医", "Ünïcödé 007", "😀 b2b ٣٤ ﾊﾟﾝ"] {
            let once = SearchText(text)
            let readable = String(
                decoding: once.bytes.map { $0 == SearchText.tokenBoundary ? 0x2D : $0 }, as: UTF8.self)
            #expect(SearchText(readable).atoms.map(\.bytes) == once.atoms.map(\.bytes))
        }
    }
}
