import BookModel
import Testing

@testable import BookSyncWeb

@Suite struct PageMakingTests {
    private struct Inner: ViewModel {
        var name: String
        var note: String?
    }

    private struct Outer: ViewModel {
        var note: String? = "outer"
        var inner: [Inner]
        var maybe: Inner?
    }

    @Test func `what is nil means nothing, not the property of an outer model`() throws {
        let fields = templateFields(
            of: Outer(inner: [Inner(name: "a", note: nil), Inner(name: "b", note: "own")], maybe: nil))
        let text = try PageTemplates.text(
            of: "{{#inner}}{{name}}{{#note}}[{{note}}]{{/note}} {{/inner}}{{^maybe}}none{{/maybe}}", with: fields)
        #expect(text == "a b[own] none")
    }

    @Test func `an optional model that is there shows its own properties, and a tuple its labels`() throws {
        let model = Outer(inner: [], maybe: Inner(name: "there", note: nil))
        let bar: (value: Int, label: String)? = (3, "bar")
        let page: (model: Outer, bar: (value: Int, label: String)?, name: String, note: String) =
            (model, bar, "page", "page's")
        let text = try PageTemplates.text(
            of: "{{#model}}{{#maybe}}{{name}}{{#note}}{{note}}{{/note}}{{/maybe}}{{/model}} "
                + "{{#bar}}{{value}} {{label}}{{/bar}}",
            with: templateFields(of: page))
        #expect(text == "there 3 bar")
    }

    /// A quotation mark with an accent on it is one character to Swift and two code points to a browser.
    @Test(arguments: [
        ("<script>", "&lt;script&gt;"), ("\"\u{301} onclick=x", "&quot;\u{301} onclick=x"),
        ("'\u{20DD}", "&#39;\u{20DD}"),
        ("<\u{308}b", "&lt;\u{308}b"), ("&\u{FE0F}", "&amp;\u{FE0F}"), ("三体 & \"x\"", "三体 &amp; &quot;x&quot;"),
        ("\r\n\"", "\r\n&quot;"), ("plain", "plain"),
    ])
    func `text cannot leave its place in a page`(text: String, expected: String) throws {
        #expect(MarkupText.escaped(text) == expected)
        #expect(
            Array(try PageTemplates.text(of: "{{name}}", with: ["name": text]).utf8) == Array(expected.utf8))
    }

    @Test(
        arguments: [
            (nil, 250, 1, 3), ("2", 250, 2, 3), ("3", 250, 3, 3), ("4", 250, 3, 3), ("0", 250, 1, 3), ("-7", 250, 1, 3),
            ("x", 250, 1, 3), ("99999999999999999999", 250, 1, 3), ("9", 0, 1, 1), ("2", 100, 1, 1), ("2", 101, 2, 2),
        ] as [(String?, Int, Int, Int)])
    func `a page number that there is`(wanted: String?, total: Int, number: Int, count: Int) {
        let part = PagePart(wanted, of: total, size: 100)
        #expect(part.number == number && part.count == count)
        #expect(part.first == (number - 1) * 100)
    }

    @Test(
        arguments: [
            ("1", "[1] 2 … 20"), ("2", "1 [2] 3 … 20"), ("3", "1 2 [3] 4 … 20"), ("10", "1 … 9 [10] 11 … 20"),
            ("20", "1 … 19 [20]"),
        ])
    func `a pager leads to the first, the last and the pages beside`(wanted: String, expected: String) throws {
        let part = PagePart(wanted, of: 2000, size: 100)
        let pager = try #require(part.pager(Strings(.english)) { "?page=\($0)" })
        let shown = pager.links.map { link in
            (link.isBehindGap ? "… " : "") + (link.isCurrent ? "[\(link.number)]" : link.number)
        }
        #expect(shown.joined(separator: " ") == expected)
        #expect(pager.links.allSatisfy { $0.href == "?page=\($0.number)" })
        #expect((pager.previous == nil) == (wanted == "1") && (pager.next == nil) == (wanted == "20"))
    }

    @Test(arguments: [
        ("三体", ["三体"]), ("红楼梦 第一回", ["红楼", "梦"]), ("平凡的世界", ["平凡的", "世界"]), ("回到古代当兽医", ["回到", "古代"]),
        ("The Left Hand", ["TL"]), ("Emma", ["E"]), ("《围城》", ["围城"]), ("1984", ["1"]), ("", ["·"]), ("!?", ["·"]),
        ("<&>x", ["X"]), ("Pride and Prejudice", ["PP"]), ("Alice's Adventures", ["AA"]), ("moby dick", ["M"]),
    ])
    func `a drawn cover bears the first characters of the title`(title: String, letters: [String]) {
        #expect(PlaceholderCover.letters(of: title) == letters)
    }

    @Test func `a drawn cover is always the same, and well-formed`() {
        let book = BookIdentity(source: "demo", id: "<&\"")
        let picture = PlaceholderCover.picture(of: "<&\"'>", book)
        #expect(picture == PlaceholderCover.picture(of: "<&\"'>", book))
        let text = String(decoding: picture, as: UTF8.self)
        #expect(text.hasPrefix("<svg xmlns=") && text.hasSuffix("</svg>") && !text.contains("style"))
    }
}
