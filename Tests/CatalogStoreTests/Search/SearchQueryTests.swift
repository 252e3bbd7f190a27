import BookModel
import Testing

@testable import CatalogStore

@Suite struct SearchQueryTests {
    @Test(arguments: [
        ("兽医", "\"兽医\""),
        ("回到古代", "\"回到\" AND \"到古\" AND \"古代\""),
        ("兽", "\"兽\"*"),
        ("第1集", "\"第\" AND \"1\""),
        ("第001集", "\"第\" AND \"1\""),
        ("第", "\"第\"*"),
        ("hound", "\"hound\"*"),
        ("The Hound", "\"the\"* AND \"hound\"*"),
        ("12", "\"12\""),
        ("mp3版", "\"mp\" AND \"3\""),
        ("兽医 兽医", "\"兽医\""),
        ("😀", "\"😀\"*"),
        // What FTS5 would take for its own language.
        ("AND", "\"and\"*"), ("a OR b", "\"a\"* AND \"or\"* AND \"b\"*"),
        ("NEAR(a b, 2)", "\"near\"* AND \"a\"* AND \"b\"* AND \"2\""),
        ("\"quoted\"", "\"quoted\"*"), ("tokens:兽医", "\"tokens\"* AND \"兽医\""), ("-兽医*", "\"兽医\""),
        ("^兽医", "\"兽医\""),
        ("兽医\u{0}x'); DROP TABLE book; --", "\"兽医\" AND \"x\"* AND \"drop\"* AND \"table\"* AND \"book\"*"),
    ])
    func `a query becomes quoted tokens`(text: String, expected: String) throws {
        #expect(try SearchQuery(text).expression == expected)
    }

    @Test(arguments: ["", " ", "\"", "*", "\"*\"", "()", "-", "'", "…", "\u{0}", "\u{301}", "。、"])
    func `what holds nothing to search for is refused`(text: String) throws {
        let failure = #expect(throws: Failure.self) { try SearchQuery(text) }
        #expect(failure?.kind == .usage)
    }

    @Test(arguments: [
        ("第001集_回到古代当兽医", "兽医", true), ("第001集_回到古代当兽医", "第1集", true),
        ("第011集_回到古代当兽医", "第1集", false), ("第001集_回到古代当兽医", "第1", true),
        ("第011集", "第1", false), ("第001集_回到", "集回", false), ("第001集_回到", "集 回", true),
        ("第001集_回到", "回 第1", true), ("回到古代", "代", true), ("回到古代", "到", true), ("回到古代", "古到", false),
        ("The Hound of the Baskervilles", "hound", true), ("The Hound", "houn", true), ("The Hound", "ound", false),
        ("The Hound", "HÔUND the", true), ("Women", "men", false), ("Don Quijote", "don't", false),
        ("Élan vital", "elan", true),
        ("Chapter 12", "2", false), ("Chapter 12", "chapter 12", true), ("Chapter 12", "chapter12", false),
        ("mp3", "mp", true), ("mp3", "3", true), ("兽医x", "x", true), ("aabab 兽医", "abab", false),
        ("代古代当", "古代当", true), ("当兽 兽医", "当兽医", false),
    ])
    func `a name matches where the words stand in it`(name: String, text: String, expected: Bool) throws {
        #expect(try SearchQuery(text).matches(SearchText(name)) == expected)
    }

    @Test(arguments: [("兽医", 0), ("兽医日记", 1), ("当兽医", 2), ("兽 医", 2)])
    func `the very name comes before a beginning, and that before the rest`(name: String, expected: Int) throws {
        #expect(try SearchQuery("兽医").distance(of: SearchText(name)) == expected)
    }

    @Test func `what is asked for as it is comes before what begins so`() throws {
        #expect(
            try SearchQuery.expressions(for: SearchQuery("the 第").words) == [
                "\"the\" AND \"第\"", "\"the\"* AND \"第\"*",
            ])
        #expect(try SearchQuery.expressions(for: SearchQuery("兽医").words) == ["\"兽医\""])
    }

    @Test func `a long query asks for few tokens`() throws {
        let text = (0..<500).map { String(UnicodeScalar(0x4E00 + $0)!) }.joined()
        #expect(try SearchQuery(text).expression.split(separator: " AND ").count == 32)
    }
}
