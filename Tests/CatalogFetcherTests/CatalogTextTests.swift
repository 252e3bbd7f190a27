import BookModel
import Testing

@testable import CatalogFetcher

@Suite struct CatalogTextTests {
    @Test(arguments: [
        ("第001集_回到古代当兽医", "第001集_回到古代当兽医"),
        ("\u{FEFF}第1集\u{FEFF} ", "第1集"),
        ("第2集&#183;上", "第2集·上"),
        ("&#x4e2d;&#X6587;", "中文"),
        ("Tom &amp; Jerry &lt;3", "Tom & Jerry <3"),
        ("&nbsp;a&nbsp;b&nbsp;", "a\u{A0}b"),
        ("once only &amp;#183;", "once only &#183;"),
        ("AT&T; R&D &unknown; &#99999999999; &", "AT&T; R&D &unknown; &#99999999999; &"),
        ("&#0; &#xD800; &#150;", "\u{FFFD} \u{FFFD} –"),
        ("a\r\nb\u{1B}[31mc", "a  b [31mc"),
        ("  \u{3000} ", ""),
    ])
    func `a name is cleaned`(raw: String, name: String) {
        // Swift takes CR LF for one character; as scalars they are two.
        #expect(CatalogText.name(raw) == name)
    }

    @Test func `a paragraph keeps its lines`() {
        #expect(CatalogText.paragraph(" one\r\ntwo &amp; \u{7}three\n") == "one\ntwo &  three")
    }

    @Test(arguments: [
        ("short", "short"), ("line\nbreak\u{0}", "line break"), ("1234567890", "1234567890"),
        ("12345678901", "123456789…"),
    ])
    func `a quotation is short and printable`(text: String, quotation: String) {
        #expect(CatalogText.quotation(text, length: 10) == quotation)
    }

    @Test func `a quotation of bytes survives what is no text`() {
        #expect(CatalogText.quotation([0x41, 0xFF, 0x00, 0x42], length: 10) == "A\u{FFFD} B")
        let long = Array(String(repeating: "中", count: 100).utf8)
        #expect(CatalogText.quotation(long, length: 10) == String(repeating: "中", count: 9) + "…")
    }

    @Test func `an id that an answer gives can be printed, or is none`() throws {
        #expect(CatalogText.id(" 30776\u{0}\n") == "30776")
        #expect([nil, "", "\u{85}", String(repeating: "x", count: 2000)].allSatisfy { CatalogText.id($0) == nil })
        let item = #"{"metadata":{"identifier":"\u0085"},"files":[{"name":"1.mp3","format":"VBR MP3"}]}"#
        let contents = try InternetArchiveSettings().read(
            CatalogResponse(bytes: Array(item.utf8)), source: "mine", id: nil)
        #expect(contents.identity.id == "saved")
    }
}
