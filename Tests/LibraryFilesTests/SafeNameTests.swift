import BookModel
import Testing

@testable import LibraryFiles

@Suite struct SafeNameTests {
    @Test(arguments: [
        ("../../etc/passwd", "／..／etc／passwd"),
        ("a/b\\c:d*e?f\"g<h>i|j", "a／b＼c：d＊e？f＂g＜h＞i｜j"),
        ("nul\u{0}inside\u{7}\u{1B}[31m", "nulinside[31m"),
        ("CON", "CON_"), ("nul", "nul_"), ("Com1.txt", "Com1_.txt"), ("LPT¹", "LPT¹_"), ("COM10", "COM10"),
        ("NUL .tar.gz", "NUL _.tar.gz"), ("CONTENT", "CONTENT"),
        ("trailing dots...  ", "trailing dots"), (". .", ""), ("..", ""), ("...", ""), ("   ", ""), ("", ""),
        (".booksync", "booksync"), (".hidden", "hidden"),
        ("\u{202E}gpj.3pm\u{202C}", "gpj.3pm"), ("\u{2066}a\u{2069}\u{200E}\u{200F}\u{061C}b", "ab"),
        ("\u{FEFF}第\u{200B}一\u{200D}集\u{2060}\u{00AD}", "第一集"),
        ("two\u{3000}\t\u{A0} \r\nlines\u{2028}three", "two lines three"),
        ("e\u{301}te\u{301}", "\u{E9}t\u{E9}"), ("\u{FFFE}a\u{FFFF}", "a"),
        ("👨‍👩‍👧 family", "👨‍👩‍👧 family"), ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"), ("क\u{94D}\u{200D}ष", "क\u{94D}\u{200D}ष"), ("ok\u{E0041}", "ok"),
    ])
    func `a hostile name becomes a harmless component`(raw: String, expected: String) {
        let component = SafeName.component(SafeName.text(raw))
        // Compared by bytes, because Swift takes é and e with an accent for equal.
        #expect(Array(component.utf8) == Array(expected.utf8), "\(component.debugDescription)")
    }

    @Test func `text is cut between characters, never within one`() {
        #expect(SafeName.cut("回到古代", toBytes: 10) == "回到古")
        #expect(SafeName.cut("a👨‍👩‍👧b", toBytes: 18) == "a")
        #expect(SafeName.cut("a👨‍👩‍👧b", toBytes: 19) == "a👨‍👩‍👧")
        #expect(SafeName.cut("one two", toBytes: 4) == "one")
        #expect(SafeName.cut("e" + String(repeating: "\u{301}", count: 300), toBytes: 100) == "")
    }

    @Test func `a name of 300 bytes keeps its number and its extension`() throws {
        let name = String(repeating: "长", count: 300)
        let template = try NamingTemplate(parsing: NamingTemplate.standardText)
        let path = template.path(
            for: Sample.episode(12, name), of: Sample.book(name, author: name), width: 4, extension: "m4a")
        let parts = path.split(separator: "/")
        #expect(parts.count == 3)
        #expect(parts.allSatisfy { $0.utf8.count <= 240 })
        #expect(parts[2].hasPrefix("0012 长") && parts[2].hasSuffix("长.m4a") && parts[2].utf8.count > 230)
    }

    @Test func `a book whose title is nothing visible gets a folder of its own`() throws {
        let template = try NamingTemplate(parsing: NamingTemplate.standardText)
        let path = template.path(
            for: Sample.episode(1, "."), of: Sample.book("..", author: "."), width: 3, extension: "mp3")
        #expect(path == "Book 30776/001.mp3")
    }
}
