import BookModel
import Testing

@testable import ShelfQueries

@Suite struct TitleIndexTests {
    private let index = TitleIndex(
        [
            "回到古代当兽医", "回到古代", "夜航船", "Emma", "Emma’s Choice", "Éclair", "ＡＢＣ guide", "三体 2", "Dune: Part One",
        ].enumerated().map { .init(book: BookIdentity(source: "s", id: "\($0.offset)"), title: $0.element) })

    @Test(
        arguments: [
            ("回到古代", ["回到古代"]), ("回到", ["回到古代当兽医", "回到古代"]), ("夜", ["夜航船"]), ("Emma", ["Emma"]),
            ("emma", ["Emma"]), ("EMMA’", ["Emma’s Choice"]), ("em", ["Emma", "Emma’s Choice"]), ("eclair", ["Éclair"]),
            ("abc", ["ＡＢＣ guide"]), ("hdgd", ["回到古代当兽医", "回到古代"]), ("HDGDDSY", ["回到古代当兽医"]),
            ("yhc", ["夜航船"]), ("st", ["三体 2"]), ("dune: part", ["Dune: Part One"]),
            // Of titles without Chinese characters the initials tell nothing.
            ("ec", ["Éclair"]), ("dp", []), ("h", []), ("", []), ("2", []), ("船", []), ("nothing", []),
        ])
    func `the books that words name`(words: String, titles: [String]) {
        #expect(index.matches(words).map(\.title) == titles)
    }
}
