import Foundation
import Testing

@testable import CatalogFetcher

/// Feeds in all sorts of encodings, declared truly, falsely or not at all.
@Suite struct DocumentEncodingTests {
    private static func feed(_ title: [UInt8], declared: String? = nil) -> [UInt8] {
        Array("<?xml version=\"1.0\"\(declared.map { " encoding=\"\($0)\"" } ?? "")?><rss><channel><title>".utf8)
            + title
            + Array("</title></channel></rss>".utf8)
    }

    private static func title(_ bytes: [UInt8], charset: String? = nil) -> String? {
        guard case .feed(let document) = FeedReader.read(bytes, charset: charset) else { return nil }
        return document.title
    }

    private static let gbk: [UInt8] = [0xB5, 0xDA, 0xD2, 0xBB, 0xBC, 0xAF]
    private static let big5: [UInt8] = [0xB2, 0xC4, 0xA4, 0x40, 0xB6, 0xB0]
    private static let utf8 = Array("第一集第一集".utf8)

    @Test(arguments: [
        (gbk, "GBK", "第一集"), (gbk, "gb2312", "第一集"), (gbk + [0x95, 0x32, 0x82, 0x36], "GB18030", "第一集𠀀"),
        (big5, "Big5", "第一集"), ([0x91, 0xE6, 0x88, 0xEA], "Shift_JIS", "第一"),
        ([0xCF, 0xF0, 0xE8, 0xE2, 0xE5, 0xF2], "windows-1251", "Привет"), ([0x63, 0xE9, 0x80], "windows-1252", "cé€"),
        ([0x63, 0xE9], "ISO-8859-1", "cé"), ([0xC0, 0xE5], "koi8-r", "юЕ"), (utf8, "utf-8", "第一集第一集"),
    ])
    func `a declared encoding is read`(bytes: [UInt8], name: String, title: String) {
        #expect(Self.title(Self.feed(bytes, declared: name)) == title)
        #expect(Self.title(Self.feed(bytes), charset: name) == title)
    }

    @Test func `UTF-8 is read as such whatever is declared`() {
        for name in ["GBK", "iso-8859-1", "UTF-16", "no-such-code", "utf-7", "EBCDIC-US", "../../x", "IBM037"] {
            #expect(Self.title(Self.feed(Self.utf8, declared: name)) == "第一集第一集", "\(name)")
        }
        #expect(Self.title([0xEF, 0xBB, 0xBF] + Self.feed(Self.utf8, declared: "GBK")) == "第一集第一集")
    }

    @Test func `declared UTF-8 that is none is GBK where its pairs say so, and Windows-1252 else`() {
        #expect(Self.title(Self.feed(Self.gbk, declared: "UTF-8")) == "第一集")
        #expect(Self.title(Self.feed(Self.gbk)) == "第一集")
        #expect(Self.title(Self.feed([0x63, 0xE9, 0x20, 0x63], declared: "UTF-8")) == "cé c")
    }

    @Test func `one bad byte in much UTF-8 is replaced`() {
        let text = Array("第一集第一集".utf8) + [0xFF] + Array("好".utf8)
        #expect(Self.title(Self.feed(text, declared: "UTF-8")) == "第一集第一集\u{FFFD}好")
    }

    @Test(arguments: [true, false], [true, false])
    func `UTF-16 is read with and without a byte order mark`(isLittle: Bool, hasMark: Bool) {
        let text = String(decoding: Self.feed(Self.utf8, declared: "UTF-16"), as: UTF8.self)
        let units = (hasMark ? [0xFEFF] : []) + Array(text.utf16)
        let bytes = units.flatMap { unit in
            isLittle ? [UInt8(unit & 255), UInt8(unit >> 8)] : [UInt8(unit >> 8), UInt8(unit & 255)]
        }
        #expect(Self.title(bytes) == "第一集第一集")
        #expect(Self.title(bytes + [0x3C]) == "第一集第一集")
    }

    @Test func `the first text that is not ASCII may come late`() {
        let padding = Array(("<!--" + String(repeating: "x", count: 30_000) + "-->").utf8)
        for (bytes, title) in [(Self.gbk, "第一集"), (Self.utf8, "第一集第一集")] {
            let head = Array("<?xml version=\"1.0\"?>".utf8) + padding
            #expect(Self.title(head + Array("<rss><channel><title>".utf8) + bytes + Array("</title>".utf8)) == title)
        }
    }

    @Test func `UTF-8 is repaired in the same way however it is cut`() {
        let bytes: [UInt8] = [
            0x61, 0xE4, 0xB8, 0x80, 0xE4, 0xB8, 0x41, 0xF0, 0x9F, 0x98, 0x80, 0xED, 0xA0, 0x80, 0xEF, 0xBF, 0xBE, 0xC3,
        ]
        let expected = "a一\u{FFFD}A😀\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"
        for size in 1...bytes.count {
            var repair = UTF8Repair()
            var output: [UInt8] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                Array(bytes[start..<min(start + size, bytes.count)]).withUnsafeBufferPointer { piece in
                    repair.consume(piece) { output += $0 }
                }
            }
            repair.finish { output += $0 }
            #expect(String(decoding: output, as: UTF8.self) == expected, "pieces of \(size)")
        }
    }
}
