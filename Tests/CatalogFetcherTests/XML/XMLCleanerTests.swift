import Testing

@testable import CatalogFetcher

@Suite struct XMLCleanerTests {
    /// What the parser gets, without the root element around it.
    private func clean(_ text: String, in pieces: Int = .max) -> String {
        var cleaner = XMLCleaner(prefixes: [:])
        var output: [UInt8] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: min(pieces, max(bytes.count, 1))) {
            Array(bytes[start..<min(start + min(pieces, bytes.count), bytes.count)]).withUnsafeBufferPointer {
                cleaner.consume($0)
            }
            cleaner.takeReady { output += $0 }
        }
        cleaner.finish()
        cleaner.takeReady { output += $0 }
        let whole = String(decoding: output, as: UTF8.self)
        return whole.replacing("<?xml version=\"1.0\" encoding=\"UTF-8\"?><document>", with: "")
    }

    @Test(arguments: [
        ("<a>x</a>", "<a>x</a>"), ("Q & A", "Q &#38; A"), ("&amp;&lt;&#38;&#x3c;", "&#38;&#60;&#38;&#60;"),
        ("&nbsp;&mdash;&Eacute;", "\u{A0}—É"), ("&foo;&;&#xZZ;", "&#38;foo;&#38;;&#38;#xZZ;"),
        ("&#0;&#xD800;&#1114112;&#150;", "\u{FFFD}\u{FFFD}\u{FFFD}–"), ("a < b <3", "a &#60; b &#60;3"),
        ("<?xml version='1.0'?><?pi a?>x", "x"), ("<!-- a -- <b> -->x<!---->y", "xy"),
        ("<!DOCTYPE r [<!ENTITY a \"]>\"><!-- don't > --><!ELEMENT b (c)>]>x", "x"),
        ("<!DOCTYPE html>x&y;", "x&#38;y;"),
        ("<!DOCTYPE r [<!ENTITY y 'z'>]>x&y;&amp;&eacute;", "x&#38;é"),
        ("<![CDATA[a<b&c]]>x", "<![CDATA[a<b&c]]>x"), ("<![CDATA[]]]]>", "]]"),
        ("<![CDATA[a]]b]]>", "<![CDATA[a]]>]]<![CDATA[b]]>"),
        ("<a b=\"1&y=2\">", "<a b=\"1&#38;y=2\">"), ("<a b='<'/>", "<a b='&#60;'/>"),
        ("<a b=1 c d='2'/>", "<a b=\"1\" d=\"2\"/>"), ("<a b=\"1\"c='2'>", "<a b=\"1\" c=\"2\">"),
        ("<b>x<br>y</b>", "<b>x<br/>y</b>"), ("<a><b>x</a>y", "<a><b>x</e></e>y"), ("x</b>y", "xy"),
        ("<a\nb='1'\n>", "<a b='1' >"), ("a\u{0}b\u{8}c", "abc"), ("<a <b>x</b>", "<a ><b>x</b>"),
        ("<é:x:y>z</é:x:y>", "<__:x_y>z</e>"), ("<a", ""), ("&am", "&#38;am"), ("x<", "x&#60;"),
    ])
    func `markup is made well-formed, however it is cut into pieces`(text: String, cleaned: String) {
        #expect(clean(text) == cleaned)
        for size in 1...3 where !text.contains("CDATA") {
            #expect(clean(text, in: size) == cleaned, "pieces of \(size)")
        }
    }

    @Test func `a long section is cut between characters, wherever it arrives in pieces`() {
        let notes = String(repeating: "第一集：夜航船，卷一。𝄞é]]x", count: 600)
        let bare = { (text: String) in text.replacing("<![CDATA[", with: "").replacing("]]>", with: "") }
        for size in [1, 2, 3, 5, 4096, 8191, 8192, 8193, .max] {
            let cleaned = clean("<a><![CDATA[\(notes)]]></a>", in: size)
            #expect(bare(cleaned) == "<a>\(bare(notes))</a>", "pieces of \(size)")
            #expect(!cleaned.contains("\u{FFFD}"))
        }
    }

    @Test func `elements below the greatest depth are left out, and what follows is not lost`() {
        let depth = 100_000
        let text = String(repeating: "<x>", count: depth) + "t" + String(repeating: "</x>", count: depth) + "<y>z</y>"
        let cleaned = clean(text)
        #expect(cleaned.hasSuffix("<y>z</y>"))
        #expect(cleaned.count == XMLCleaner.greatestDepth * 7 + 1 + 8)
    }

    @Test func `ends without beginnings take no time within many open elements`() {
        let text = String(repeating: "<x>", count: 100_000) + String(repeating: "</y>", count: 100_000)
        #expect(clean(text).count == XMLCleaner.greatestDepth * 3)
    }

    @Test func `a tag of more than a megabyte is left out`() {
        let text = "<a b=\"" + String(repeating: "x", count: XMLCleaner.greatestTag) + "\">y<c/>"
        #expect(clean(text).hasSuffix("<c/>"))
        #expect(clean(text).count < 10)
    }
}
