import Foundation
import Support
import Testing

@testable import CatalogFetcher

@Suite struct XMLReaderTests {
    /// Everything that a well-formed document may hold, with characters of two, three and four bytes.
    private static let wellFormed = [
        "<a>é第𝄞 x</a>", "<a><b>é</b>\r\n<c/>\r第\r\r\n</a>", "<é第 ü='𝄞'><ñ/></é第>",
        "<a b='é第𝄞' c=\"&quot;'第'&#x7b2c;&#233;&amp;a=1&lt;&gt;\"/>", "<a b='x\r\ny\tz\nw&#10;&#13;'/>",
        "<a  b = 'é'\n\tc='第'\r\n></a >", "<a>&amp;第&lt;é&gt;&quot;𝄞&apos;&#31532;&#x1D11E;</a>",
        "<a>x<![CDATA[é<b>&amp;第]𝄞]] >]</b>]]]>y<![CDATA[]]><![CDATA[]]]]><![CDATA[>\n第]]></a>",
        "<?xml version='1.0' encoding='UTF-8'?><!-- é - <b> 第 --><a><!----><?é 第 𝄞?>x<!-- - -->y</a><!-- 第 -->",
        "<!DOCTYPE a [<!ELEMENT a ANY><!-- é ]> --><!ENTITY é \"第]>\">]><a>𝄞</a>",
        "<!DOCTYPE html PUBLIC '-//x//y' 'x>\"y'><html>𝄞</html>",
        "<a xmlns='urn:a' xmlns:第='urn:b'><第:b 第:x='1' x='2'/><b xmlns=''><c/></b><第:d xmlns:第='urn:c'><第:e/></第:d><第:f/></a>",
        "<r><i:x xmlns:i='urn:1'/><i:x xmlns:i='urn:2'><i:y i:z='é'/></i:x><i:x xmlns:i='urn:1'/></r>",
    ]

    @Test(arguments: wellFormed)
    func `a document is read as Foundation reads it, wherever its bytes are cut`(document: String) throws {
        let bytes = Array(document.utf8)
        let expected = try #require(XMLEvents.foundations(bytes))
        #expect(XMLEvents.ours(bytes).events == expected)
        #expect(XMLEvents.ours(bytes).isAtEnd)
        #expect(XMLEvents.ours(bytes, cutAt: 1..<bytes.count).events == expected, "every byte by itself")
        for first in 1..<bytes.count {
            #expect(XMLEvents.ours(bytes, cutAt: [first]).events == expected, "cut at \(first)")
        }
    }

    /// References to characters that HTML reads as Windows-1252's, and elements below the greatest depth.
    private static let readOtherwise = [
        "feedparser/encoding__double-encoded-html.xml", "synthetic/deep_nesting_10000.xml",
    ]

    @Test func `recorded feeds and lists are read as Foundation reads them`() async throws {
        try await withTaskExecutorPreference(OwnThread()) {
            var compared = 0
            for folder in ["rss", "rss-hostile", "opml"] {
                for name in Corpus.names(in: folder) where !name.hasSuffix(".json") && !name.hasSuffix(".tsv") {
                    let bytes = try Corpus.bytes("\(folder)/\(name)")
                    var decoded: [UInt8] = []
                    var decoder = TextDecoder(charset: nil)
                    bytes.withUnsafeBufferPointer { decoder.consume($0) { decoded += $0 } }
                    decoder.finish { decoded += $0 }
                    // Of entities that a document declares, and of what is no text in the encoding that it declares, each
                    // makes something else.
                    guard !decoded.contains("<!ENTITY".utf8), !Self.readOtherwise.contains(name),
                        let expected = XMLEvents.foundations(bytes)
                    else {
                        continue
                    }
                    #expect(XMLEvents.ours(decoded).events == expected, "\(name)")
                    compared += 1
                }
            }
            #expect(compared == Corpus.count(ofChosen: 160, ofWhole: 224))
        }
    }

    @Test(
        arguments: [
            ("<a>Q & A</a>", ["<a", "'Q & A'", ">"]), ("&nbsp;&mdash;&Eacute;", ["'\u{A0}—É'"]),
            ("<![CDATA[a\r\nb\r]]>\r\r\n", ["'a\nb\n\n\n'"]),
            ("&foo;&;&#xZZ;&", ["'&foo;&;&#xZZ;&'"]), ("&#0;&#xD800;&#1114112;&#150;", ["'\u{FFFD}\u{FFFD}\u{FFFD}–'"]),
            ("&abcdefghijklmnopqrstuvwxyz;", ["'&abcdefghijklmnopqrstuvwxyz;'"]),
            ("a < b <3", ["'a < b <3'"]), ("a\u{0}b\u{8}c", ["'abc'"]), ("x<", ["'x<'"]), ("&am", ["'&am'"]),
            ("<!DOCTYPE r [<!ENTITY y 'z'>]>x&y;&amp;&eacute;&;", ["'x&é&;'"]), ("<!x y>z<!>w", ["'zw'"]),
            ("<!-->x-->y", ["'y'"]), ("<![CDATA[a]]]]>", ["'a]]'"]), ("<![CDATA[\u{0}a\u{1}]]>", ["'a'"]),
            ("<a b=\"1&y=2\">", ["<a b='1&y=2'"]), ("<a b='<'/>", ["<a b='<'", ">"]),
            ("<a b=1 c d='2'/>", ["<a b='1' d='2'", ">"]), ("<a b=\"1\"c='2'>", ["<a b='1' c='2'"]),
            ("<a b=x/y/>", ["<a b='x/y'", ">"]), ("<a b=/ >", ["<a b='/'"]), ("<a b=/>", ["<a b=''", ">"]),
            ("<a b=>", ["<a b=''"]), ("<a b=é&amp;c=第 d=''>", ["<a b='é&c=第' d=''"]),
            ("<a b='&quot;'c=\"'\">", ["<a b='\"' c='''"]), ("<a b=&lt>", ["<a b='&lt'"]),
            ("<a t='He said 'é'' b='c'>", ["<a b='c' t='He said '"]), ("<a \"b\" = c = d>", ["<a b\"='c'"]),
            ("<a b='1' b='2'>", ["<a b='1'"]),
            (
                "<b>x<br>y<HR>z<img src=1></b>",
                ["<b", "'x'", "<br", ">", "'y'", "<HR", ">", "'z'", "<img src='1'", ">", ">"]
            ),
            ("<a><b>x</a>y", ["<a", "<b", "'x'", ">", ">", "'y'"]), ("x</b>y</>z</ b>", ["'xyz'"]),
            ("<a <b>x</b>", ["<a", "<b", "'x'", ">"]), ("<a b=1<b>x", ["<a b='1'", "<b", "'x'"]),
            ("<é:x:y>z</é:x:y>", ["<x:y", "'z'", ">"]), ("<:a/><b:/>", ["<:a", ">", "<b:", ">"]),
            ("<a", []), ("<a b='x", []), ("<a b='&am", []),
        ] as [(String, [String])])
    func `markup that is not well-formed is read for what it means`(document: String, events: [String]) {
        let bytes = Array(document.utf8)
        #expect(XMLEvents.ours(bytes).events == events)
        for first in 1..<max(2, bytes.count) where first < bytes.count {
            #expect(XMLEvents.ours(bytes, cutAt: [first]).events == events, "cut at \(first)")
        }
        #expect(XMLEvents.ours(bytes, cutAt: 1..<max(1, bytes.count)).events == events, "every byte by itself")
    }

    @Test func `a long section arrives whole, wherever it is cut`() {
        let notes = String(repeating: "第一集：夜航船，卷一。𝄞é]]x", count: 600)
        let bytes = Array("<a><![CDATA[\(notes)]]></a>".utf8)
        for size in [1, 2, 3, 5, 4096, 8191, 8192, 8193] {
            let cuts = stride(from: size, to: bytes.count, by: size)
            #expect(XMLEvents.ours(bytes, cutAt: cuts).events == ["<a", "'\(notes)'", ">"], "pieces of \(size)")
        }
    }

    @Test func `of elements below the maximum depth the text is told, and what follows is not lost`() {
        let depth = 100_000
        let text =
            String(repeating: "<x>", count: depth) + "t<y/>" + String(repeating: "</x>", count: depth) + "<y>z</y>"
        let told = XMLNesting.maxDepth
        let read = XMLEvents.ours(Array(text.utf8))
        #expect(
            read.events == Array(repeating: "<x", count: told) + ["'t'"] + Array(repeating: ">", count: told)
                + ["<y", "'z'", ">"])
        #expect(read.isAtEnd)
    }

    @Test func `ends without beginnings take no time within many open elements`() {
        let text = String(repeating: "<x>", count: 100_000) + String(repeating: "</y>", count: 100_000)
        #expect(XMLEvents.ours(Array(text.utf8)).events.count == XMLNesting.maxDepth)
    }

    @Test(arguments: [
        "b=\"" + String(repeating: "x", count: XMLTag.maxLength) + "\"",
        (0...XMLTag.maxAttributes).map { "b\($0)=''" }.joined(separator: " "),
    ])
    func `a tag that is too long is left out, and what follows is read`(attributes: String) {
        var reader = XMLReader(FeedBuilder(base: nil))
        Array("<a \(attributes)>".utf8).withUnsafeBufferPointer { reader.consume($0) }
        #expect(reader.skippedTags == 1)
        #expect(XMLEvents.ours(Array("<a \(attributes)>y<c/>".utf8)).events == ["'y'", "<c", ">"])
    }
}
