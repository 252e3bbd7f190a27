import BookModel
import Testing

@testable import BookSync

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

    @Test(
        arguments: [
            ("重生之都市修仙", "cszdsxx"), ("重生之都市修仙", "zszdsxx"), ("长安十二时辰", "casesc"), ("银行家", "yhj"), ("音乐之声", "yyzs"),
            ("曾国藩传", "zgfz"), ("朝花夕拾", "zhxs"), ("单田芳评书", "stfps"), ("大长今", "dcj"), ("传奇", "cq"), ("还珠格格", "hzgg"),
            ("少年行", "snx"), ("三体 The Trilogy 重启", "stttcq"), ("2001 太空漫游", "2tkmy"), ("X战警：重生", "xzjcs"),
        ])
    func `a character that is read in several ways is found by each of them`(title: String, initials: String) throws {
        let letters = try #require(PinyinInitials(of: TitleIndex.key(of: title)))
        #expect(letters.begin(with: initials) && letters.begin(with: String(initials.prefix(2))))
        #expect(!letters.begin(with: "q" + initials) && !letters.begin(with: initials + "a"))
    }
}
