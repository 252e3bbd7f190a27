import Testing

@testable import BookSyncCLI

@Suite struct DisplayWidthTests {
    @Test(arguments: [
        ("", 0), ("Episode 1", 9), ("回到古代当兽医", 14), ("第12集 山村", 11), ("「序」（上）", 12),
        ("한국어", 6), ("\u{1112}\u{1161}\u{11AB}", 2), ("かな", 4), ("か\u{3099}", 2), ("ｶﾅ", 2), ("ＡＢ", 4),
        ("𠮷", 2), ("é", 1), ("e\u{301}", 1), ("o\u{308}\u{323}", 1),
        ("😀", 2), ("👨‍👩‍👧‍👦", 2), ("👍🏽", 2), ("🇩🇪", 2), ("🏳️‍🌈", 2), ("❤️", 2), ("❤", 1), ("1️⃣", 2), ("⌚", 2), ("🏴󠁧󠁢󠁳󠁣󠁴󠁿", 2),
        ("שלום", 4), ("مرحبا", 5), ("a\u{200F}b", 2), ("a\u{200B}b", 2), ("\u{FEFF}a", 1), ("co\u{AD}op", 5),
        ("ไทย", 3), ("น้ำ", 2), ("क्ष", 2), ("…", 1), ("\u{1F600}a\u{1F1E9}\u{1F1EA}", 5),
    ])
    func `every script takes the columns it takes`(text: String, columns: Int) {
        #expect(DisplayWidth.columns(of: text) == columns)
    }

    @Test(arguments: [
        ("a\tb\nc", "a b c"), ("a\r\nb", "a b"), ("\u{1B}[31mred\u{1B}[0m", "\u{FFFD}[31mred\u{FFFD}[0m"),
        ("\u{7}\u{8}\u{7F}\u{9B}", "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"), ("a\u{0}b", "a\u{FFFD}b"),
        ("a\u{202E}cba\u{202C}", "acba"), ("\u{2066}x\u{2069}", "x"), ("a\u{2028}b", "a b"), ("山村", "山村"),
    ])
    func `nothing that steers a terminal is printed`(text: String, printed: String) {
        #expect(DisplayWidth.printable(text) == printed)
        #expect(DisplayWidth.columns(of: text) == DisplayWidth.columns(of: printed))
    }

    @Test(arguments: [
        ("回到古代当兽医", 14, "回到古代当兽医"), ("回到古代当兽医", 13, "回到古代当兽…"), ("回到古代当兽医", 12, "回到古代当…"),
        ("Episode", 7, "Episode"), ("Episode", 6, "Episo…"), ("Episode", 1, "…"), ("Episode", 0, ""),
        ("Episode", -3, ""), ("ab👨‍👩‍👧‍👦cd", 5, "ab👨‍👩‍👧‍👦…"), ("ab👨‍👩‍👧‍👦cd", 4, "ab…"), ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
        ("🇩🇪🇫🇷🇮🇹", 5, "🇩🇪🇫🇷…"), ("回", 1, "…"), ("a\nb", 3, "a b"),
    ])
    func `a text is cut between graphemes`(text: String, limit: Int, cut: String) {
        #expect(DisplayWidth.truncate(text, to: limit) == cut)
    }

    @Test func `whatever is fitted takes exactly the columns it was given`() {
        let texts = ["回到古代当兽医", "Episode 12", "👨‍👩‍👧‍👦👍🏽🇩🇪", "שלום עולם", "\u{1B}[2J", "", "e\u{301}回", "น้ำ क्ष"]
        for text in texts {
            for columns in 0...20 {
                for alignment in [TextTable.Alignment.leading, .trailing] {
                    let fitted = DisplayWidth.fit(text, to: columns, alignment: alignment)
                    #expect(DisplayWidth.columns(of: fitted) == columns, "\(text) in \(columns)")
                }
            }
        }
        #expect(DisplayWidth.fit("山", to: 4, alignment: .trailing) == "  山")
        #expect(DisplayWidth.fit("山", to: 4) == "山  ")
    }

    @Test(arguments: [
        ("", 10, []), ("the server closed the connection", 12, ["the server", "closed the", "connection"]),
        ("第1集 回到古代当兽医", 8, ["第1集 回", "到古代当", "兽医"]),
        ("续传（断点）：第一集，第二集", 8, ["续传（断", "点）：第", "一集，第", "二集"]), ("ab 回到", 3, ["ab", "回", "到"]),
        ("one", 3, ["one"]), ("one", 2, ["on", "e"]), ("回", 1, ["…"]),
    ])
    func `a text is wrapped by words, and a long word within it`(text: String, limit: Int, lines: [String]) {
        #expect(DisplayWidth.wrapped(text, to: limit) == lines)
    }

    @Test(arguments: [
        ("failed: the server closed the connection", 20, "failed: the server\nclosed the\nconnection"),
        ("it fits", 20, "it fits"), ("  two  words, and more of them", 16, "  two  words,\n  and more of\n  them"),
        ("see http://example.org/a/long/path.mp3 now", 20, "see\nhttp://example.org/a/long/path.mp3 now"),
        ("已下载 演示作者二/夜航船", 11, "已下载 演示\n作者二/夜航\n船"), ("one\ntwo three", 5, "one\ntwo\nthree"),
    ])
    func `a sentence is broken between words, and a word that is longer than a line stays whole`(
        text: String, columns: Int, shown: String
    ) {
        #expect(DisplayWidth.sentences(text, to: columns) == shown)
        #expect(DisplayWidth.sentences(text, to: nil) == text)
    }
}
