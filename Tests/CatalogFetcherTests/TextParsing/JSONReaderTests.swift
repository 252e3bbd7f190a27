import Support
import Testing

@testable import CatalogFetcher

@Suite struct JSONReaderTests {
    private func read(_ text: String) throws -> JSONValue { try JSONReader.read(Array(text.utf8)) }

    @Test(arguments: [
        (#""plain""#, "plain"),
        (#""""#, ""),
        (#""a\/b\\c\"d""#, "a/b\\c\"d"),
        (#""\b\f\n\r\t""#, "\u{8}\u{C}\n\r\t"),
        (#""\u4e2d\u6587""#, "中文"),
        (#""第001集_回到古代当兽医""#, "第001集_回到古代当兽医"),
        (#""\ud83d\ude00!""#, "😀!"),
        (#""\ud83d""#, "\u{FFFD}"),
        (#""\ude00\ud83d""#, "\u{FFFD}\u{FFFD}"),
        (#""\ud83d\u0041""#, "\u{FFFD}A"),
        (#""\ud83dx""#, "\u{FFFD}x"),
        (#""\u0000""#, "\u{0}"),
        ("\"eight by\u{7F}tes and 中 beyond\"", "eight by\u{7F}tes and 中 beyond"),
    ])
    func `a string is unescaped`(source: String, content: String) throws {
        #expect(try read(source).string == content)
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("12", 12), ("12.0", 12), ("1e3", 1000), ("120E-1", 12), ("0.5e1", 5),
            ("0e999999999", 0),
            (#""12""#, 12), (#"" 12 ""#, 12), (#""-7""#, -7), (#""012""#, 12), ("1.5", nil), (#""""#, nil),
            (#""12 MB""#, nil),
            ("null", nil), ("true", nil), ("[1]", nil), (#""1e""#, nil), (#""-""#, nil), (#""."# + "\"", nil),
            ("9007199254740993", 9_007_199_254_740_993), ("9223372036854775807", .max), ("-9223372036854775808", .min),
            ("-9223372036854775808.0", .min), ("9223372036854775808", nil), ("9223372036854775808.0", nil),
            ("-9223372036854775809", nil),
            ("1e19", nil), ("9e18", 9_000_000_000_000_000_000), ("1e999999999999999999999", nil),
            ("1e-999999999999999999999", nil),
        ] as [(String, Int64?)])
    func `a whole number is read exactly or not at all`(source: String, number: Int64?) throws {
        #expect(try read(source).integer == number)
    }

    @Test(
        arguments: [
            ("1239", 1239), ("1239.5", 1239.5), (#""148.97""#, 148.97), ("1e400", nil), (#""nan""#, nil),
            (#""0x10""#, nil),
            (#""inf""#, nil), ("null", nil),
        ] as [(String, Double?)])
    func `a number is finite or not read`(source: String, number: Double?) throws {
        #expect(try read(source).double == number)
    }

    @Test(arguments: [
        ("", 0, "a value"),
        (" ", 1, "a value"),
        ("[1,]", 3, "a value"),
        ("[1 2]", 3, "',' or ']' after an element"),
        (#"{"a":1,}"#, 7, "a member's name in quotes"),
        (#"{a:1}"#, 1, "a member's name in quotes or '}'"),
        (#"{"a" 1}"#, 5, "':' after a member's name"),
        (#"{"a":1"#, 6, "',' or '}' after a member"),
        ("[tru]", 4, "'true'"),
        ("1 2", 2, "the end of the document"),
        ("012", 1, "the end of the document"),
        ("-", 1, "a digit"),
        ("\"ab", 3, "the quote that ends a string"),
        (#""\x""#, 2, "one of \"\\/bfnrtu after a backslash"),
        ("\"\n\"", 1, "an escape in place of a control character"),
        (#""\u12g4""#, 5, "four hexadecimal digits after \\u"),
    ])
    func `broken text is refused with what was expected where`(source: String, offset: Int, expected: String) {
        #expect(throws: JSONFailure(offset: offset, expected: expected)) { try read(source) }
    }

    @Test(
        arguments: [
            ([0xFF], 0), ([0xC0, 0x80], 0), ([0xED, 0xA0, 0x80], 0), ([0xF4, 0x90, 0x80, 0x80], 0), ([0xE4, 0xB8], 0),
            ([0x61, 0x80], 1), ([0xE4, 0xB8, 0xAD, 0xB5, 0xDA], 3),
        ] as [([UInt8], Int)])
    func `invalid UTF-8 is refused with its byte offset`(content: [UInt8], offset: Int) {
        #expect(throws: JSONFailure(offset: offset + 1, expected: "UTF-8 text")) {
            try JSONReader.read([0x22] + content + [0x22])
        }
    }

    @Test func `a byte order mark is skipped`() throws {
        #expect(try read("\u{FEFF}{}").kind == .object)
    }

    @Test func `members and elements are walked in order`() throws {
        let value = try read(#" { "a" : [ 1 , "]," , {} , [ ] ] , "b\n" : {"c":"}"} , "n" : null } "#)
        #expect(value.members.map(\.key) == ["a", "b\n", "n"])
        #expect(value["a"]?.elements.map(\.source) == ["1", "\"],\"", "{}", "[ ]"])
        #expect(value["b\n"]?["c"]?.string == "}")
        #expect(value["n"]?.isNull == true)
        #expect(value["missing"] == nil)
        #expect(value["a"]?["c"] == nil)
        #expect(value.elements.map(\.source) == [])
    }

    @Test func `of duplicate names the last wins`() throws {
        #expect(try read(#"{"id":1,"\u0069d":2}"#)["id"]?.integer == 2)
    }

    @Test func `nesting ends at 512 levels`() throws {
        let levels = JSONReader.maxDepth
        #expect(throws: Never.self) {
            try read(String(repeating: "[", count: levels) + String(repeating: "]", count: levels))
        }
        #expect(throws: JSONFailure(offset: levels, expected: "no more than 512 levels of nesting")) {
            try read(String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000))
        }
    }

    @Test func `an object with very many members is looked up in one walk`() throws {
        let text = "{" + (0..<50_000).map { "\"key\($0 % 7)\":\($0)" }.joined(separator: ",") + "}"
        #expect(try read(text)["key6"]?.integer == 49_993)
    }

    @Test(arguments: Corpus.names(in: "json-robustness/JSONTestSuite"))
    func `JSONTestSuite is parsed and refused as it asks`(name: String) throws {
        let bytes = try Corpus.bytes("json-robustness/JSONTestSuite/\(name)")
        if name.hasPrefix("y_") {
            walk(try JSONReader.read(bytes))
        } else if name.hasPrefix("n_") {
            #expect(throws: JSONFailure.self) { try JSONReader.read(bytes) }
        } else if case .success(let value) = Result(catching: { try JSONReader.read(bytes) }) {
            walk(value)
        }
    }

    @Test(arguments: Corpus.names(in: "json-robustness/JSONTestSuite-transform"))
    func `what parsers read differently never crashes`(name: String) throws {
        let bytes = try Corpus.bytes("json-robustness/JSONTestSuite-transform/\(name)")
        if case .success(let value) = Result(catching: { try JSONReader.read(bytes) }) { walk(value) }
    }
}
