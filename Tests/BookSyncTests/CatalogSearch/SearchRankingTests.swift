import BookModel
import CatalogFetcher
import Testing

@testable import BookSync

@Suite struct SearchRankingTests {
    private func fit(_ text: String, _ title: String, by author: String? = nil) throws -> SearchRanking.Fit {
        var entry = CatalogEntry(identity: BookIdentity(source: "s", id: "1"), title: title)
        entry.author = author
        return try SearchRanking(CatalogQuery(text: text)).fit(of: entry)
    }

    @Test(
        arguments: [
            ("emma", "Emma", .title), ("EMMA", "Émma", .title), ("emma", "Emma (version 2)", .beginning),
            ("prejudice pride", "Pride and Prejudice", .words), ("austen emma", "Emma", .people),
            ("prejudise", "Pride and Prejudice", .typo), ("pride prejudiec", "Pride and Prejudice", .typo),
            ("emna", "Emma", .typo), ("回到", "回到古代当兽医", .beginning), ("兽医", "回到古代当兽医", .words),
            ("古代当兽衣", "回到古代当兽医", .typo), ("兽衣", "回到古代当兽医", .nothing), ("hdgddsy", "回到古代当兽医", .initials),
            ("hdgd", "回到古代当兽医", .initials), ("dgd", "回到古代当兽医", .nothing), ("emma 兽医", "Emma", .someWord),
            ("war peace", "Emma", .nothing), ("ema", "Emma", .nothing),
        ] as [(String, String, SearchRanking.Fit)])
    func `a text fits a title as well as a reader would say`(
        text: String, title: String, expected: SearchRanking.Fit
    ) throws {
        #expect(try fit(text, title, by: "Jane Austen") == expected)
    }

    @Test func `a text with nothing to look for is refused`() {
        #expect(throws: Failure.self) { try fit("!!", "Emma") }
        #expect(throws: Failure.self) { try fit("", "Emma") }
    }

    @Test func `languages are read, and asked for, as libraries, the archive and LibriVox write them`() {
        for text in ["zh", "zho", "chi", "Chinese", "CHI"] { #expect(CatalogText.language(text) == "zh") }
        for text in ["ger", "deu", "German", "de"] { #expect(CatalogText.language(text) == "de") }
        #expect(CatalogText.spellings(ofLanguage: "de") == ["de", "deu", "ger", "German"])
        #expect(CatalogText.spellings(ofLanguage: "en") == ["en", "eng", "English"])
    }

    // MARK: Several catalogs

    private func entry(
        _ title: String, _ author: String?, _ reference: String, language: String? = nil, isFeed: Bool = false
    ) -> CatalogEntry {
        let parts = reference.split(separator: ":", maxSplits: 1).map(String.init)
        var entry = CatalogEntry(identity: BookIdentity(source: parts[0], id: parts[1]), title: title)
        entry.author = author
        entry.language = language
        if isFeed { entry.address = ResourceAddress(parts[1]) }
        return entry
    }

    private func found(
        _ query: CatalogQuery, listings: Set<String> = [], _ answers: [(String, [CatalogEntry])]
    ) throws -> FoundBooks {
        var found = try FoundBooks(query, sources: answers.map(\.0))
        for (source, entries) in answers {
            found.add(
                CatalogSearch.Answer(source: source, isListing: listings.contains(source), entries: .success(entries)))
        }
        return found
    }

    @Test func `a work of several sources comes once, two recordings of one source twice`() throws {
        let found = try found(
            CatalogQuery(text: "emma"),
            [
                ("librivox", [entry("Emma", "Jane Austen", "librivox:1"), entry("Emma", "Jane Austen", "librivox:2")]),
                (
                    "archive",
                    [
                        entry("EMMA", "Austen, Jane", "archive:emma"), entry("EMMA", "Austen, Jane", "archive:emma"),
                        entry("Emma", nil, "archive:other"),
                    ]
                ),
            ])
        #expect(
            found.books.map { $0.places.map(\.entry.reference) } == [
                ["librivox:1", "archive:emma"], ["librivox:2"], ["archive:other"],
            ])
    }

    @Test func `a feed is one book whoever lists it, and is named by its address`() throws {
        let found = try found(
            CatalogQuery(text: "radio"),
            [
                ("itunes", [entry("Radio", "A", "feed:http://example.org/f.xml", isFeed: true)]),
                ("fyyd", [entry("The Radio", nil, "feed:https://example.org/f.xml", isFeed: true)]),
            ])
        #expect(found.books.map(\.sources) == [["itunes", "fyyd"]])
        #expect(found.books.first?.entry.reference == "http://example.org/f.xml")
    }

    @Test func `the best come first, and those by another author last`() throws {
        let found = try found(
            CatalogQuery(text: "emma", author: "austen", limit: 5),
            [
                (
                    "s",
                    [
                        entry("My Emma and I", "Jane Austen", "s:words"), entry("Emma", "Émile Zola", "s:other"),
                        entry("Emma's Year", "Jane Austen", "s:beginning"), entry("Emma", "Jane Austen", "s:title"),
                        entry("Persuasion", "Jane Austen", "s:nothing"),
                    ]
                )
            ])
        #expect(
            found.books.map(\.entry.identity.id) == ["title", "beginning", "words", "nothing", "other"])
    }

    @Test func `of a listing only what has a word of the text is taken, of a search all, in the language`() throws {
        let entries = [
            entry("Emma", nil, "x:1", language: "en"), entry("Persuasion", nil, "x:2"),
            entry("艾玛", nil, "x:3", language: "zh-Hant"),
        ]
        func ids(_ query: CatalogQuery, listings: Set<String> = []) throws -> [String] {
            try found(query, listings: listings, [("x", entries)]).books.map(\.entry.identity.id)
        }
        #expect(try ids(CatalogQuery(text: "emma")) == ["1", "2", "3"])
        #expect(try ids(CatalogQuery(text: "emma"), listings: ["x"]) == ["1"])
        #expect(try ids(CatalogQuery(text: "emma", language: "zh")) == ["2", "3"])
        #expect(try ids(CatalogQuery(text: "emma", limit: 1)) == ["1"])
    }
}
