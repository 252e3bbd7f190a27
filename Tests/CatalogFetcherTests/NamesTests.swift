import BookModel
import Support
import Testing

@testable import CatalogFetcher

@Suite struct NamesTests {
    @Test(arguments: [
        (["10.mp3", "9.mp3", "1.mp3"], ["1.mp3", "9.mp3", "10.mp3"]),
        (["Part 2", "part 10", "Part 1"], ["Part 1", "Part 2", "part 10"]),
        (["a001", "a1", "a01"], ["a001", "a01", "a1"]),
        (["b", "a10b2", "a10b10", "a9"], ["a9", "a10b2", "a10b10", "b"]),
        (["第10集", "第2集", "第1集"], ["第1集", "第2集", "第10集"]),
        (
            ["第一百零二集", "第二十集", "第十集", "第3集", "第二集", "第一〇一集"],
            ["第二集", "第3集", "第十集", "第二十集", "第一〇一集", "第一百零二集"]
        ),
        (["第十卷/1", "第九卷/1", "序"], ["序", "第九卷/1", "第十卷/1"]),
        (
            ["99999999999999999999999", "100000000000000000000000"],
            ["99999999999999999999999", "100000000000000000000000"]
        ),
        (["CD 10/1", "CD 2/1", "intro", "CD 2/bonus/1"], ["intro", "CD 2/1", "CD 2/bonus/1", "CD 10/1"]),
        (["", "a"], ["", "a"]),
        (["Ep 3.mp3", "Ep 2.5.mp3", "Ep 2.mp3", "Ep 10.mp3"], ["Ep 2.mp3", "Ep 2.5.mp3", "Ep 3.mp3", "Ep 10.mp3"]),
        (["故事 上集.mp3", "故事 下集.mp3", "故事 中集.mp3"], ["故事 上集.mp3", "故事 中集.mp3", "故事 下集.mp3"]),
        (["故事（下）", "故事（上）", "故事（中）"], ["故事（上）", "故事（中）", "故事（下）"]),
        (["第2集（上）", "第1集（下）", "第1集（上）"], ["第1集（上）", "第1集（下）", "第2集（上）"]),
    ])
    func `names come in the order in which people count`(names: [String], expected: [String]) {
        let sorted = names.sorted {
            NaturalOrder.precedes(ArchiveRecordings.segments($0), ArchiveRecordings.segments($1))
        }
        #expect(sorted == expected)
    }

    @Test func `the order is total`() {
        var generator = SeededGenerator(seed: 7)
        let alphabet = Array("aAbB019 _-.第上集é")
        let names = (0..<60).map { _ in
            String(
                (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                    alphabet.randomElement(using: &generator) ?? "a"
                })
        }
        for one in names {
            for other in names {
                let order = NaturalOrder.compare(one, other)
                #expect((order == 0) == one.utf8.elementsEqual(other.utf8))
                #expect(order.signum() == -NaturalOrder.compare(other, one).signum())
                for third in names where order < 0 && NaturalOrder.compare(other, third) < 0 {
                    #expect(NaturalOrder.compare(one, third) < 0, "\(one) \(other) \(third)")
                }
            }
        }
    }

    @Test(arguments: [
        (["galaxyprimes_01_smith", "galaxyprimes_02_smith"], [1, 2]),
        (["2001 - 01", "2001 - 02", "2001 - 10"], [1, 2, 10]),
        (["01 - Part 1", "02 - Part 1"], [1, 2]),
        (["Preface", "Chapter 1", "Chapter 2"], [nil, 1, 2]),
        (["12345678901234567890"], [nil]),
        ([], []),
    ])
    func `the number of a name is the one that its neighbours' differ in`(names: [String], numbers: [Int?]) {
        #expect(NumbersInNames.numbers(in: names) == numbers)
    }

    @Test(
        arguments: [
            (["2. B", "1. A"], [2, 1]), (["Lettura LV", "Lettura I"], nil), (["Lettura II", "Lettura I"], [2, 1]),
            (["I tre - Lettura I", "I tre - Lettura II", "I tre - Lettura III"], [1, 2, 3]),
            (["L'isola - IV", "Il mare - III", "X - II", "Y - I"], [4, 3, 2, 1]),
            (["第一百零二回", "第二回"], nil), (["第三回 大闹", "第二回 三打", "第一回 出世"], [3, 2, 1]),
            (["第十集", "第9集", "第八集", "第7集", "六", "五", "四", "三", "两", "一"], [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]),
            (["Chapter One", "Chapter Two", "Chapter the Third"], [1, 2, 3]),
            ((1...21).map { $0 == 21 ? "Twenty-One" : "\($0)" }, (1...21).map { $0 == 21 ? nil : $0 }),
            (["S01E01", "S01E02", "S01E03"], [1, 2, 3]), (["S01E01", "S01E02", "S02E01", "S02E02"], nil),
            (["Preface", "1", "2", "3", "4"], [nil, 1, 2, 3, 4]), (["Preface", "1", "2", "3"], nil),
            (["0", "1", "2", "4"], [0, 1, 2, 4]), (["1", "2", "9"], nil), (["5", "6", "7", "8"], nil),
            (["2019", "2020"], nil), (["2001 - 01", "2001 - 02"], [1, 2]),
            // Months of a podcast, from one year into the next.
            (["11/2023", "12/2023", "1/2024", "2/2024", "3/2024", "4/2024"], nil),
            // One comes between two others.
            (["1", "2", "2.5", "3", "4"], nil), (["1.1", "1.2", "1.3"], [1, 2, 3]),
            (["下集", "故事 中集", "故事（上）"], [3, 2, 1]), (["在路上", "中国"], nil),
            (["One", "1", "I"], nil), (["a", "b"], nil), (["1"], nil), ([], nil),
        ] as [([String], [Int?]?)])
    func `names state an order where nearly all carry a number of their own that runs from 1`(
        names: [String], positions: [Int?]?
    ) {
        #expect(NumbersInNames.positions(in: names) == positions)
    }

    @Test func `names in words are numbers up to ninety-nine`() {
        let (ones, tens) = (["", "-one", " Two", "-THREE", " fourth"], ["twenty", "Thirty", "ninety"])
        let names = ["one", "two", "Third", "twelve", "nineteenth"] + tens.flatMap { ten in ones.map { ten + $0 } }
        let numbers = [1, 2, 3, 12, 19] + [20, 30, 90].flatMap { ten in (0...4).map { ten + $0 } }
        #expect(names.map { NumbersInNames.englishWords(in: "Chapter \($0): the End") } == numbers.map { [$0] })
    }

    @Test(arguments: [
        ("galaxy_01_smith_64kb.mp3", "galaxy_01_smith"), ("galaxy_01_smith.ogg", "galaxy_01_smith"),
        ("a_128KB.MP3", "a"), ("a_vbr.mp3", "a"), ("a_1kb.mp3", "a_1kb"), ("_64kb.mp3", "_64kb"), ("v1.5", "v1.5"),
        (".mp3", ".mp3"), ("", ""), ("CD 1/a_64kb.mp3", "CD 1/a"),
    ])
    func `a recording's name says nothing of its encoding`(name: String, expected: String) {
        #expect(FileRole.recordingName(name) == expected)
    }

    @Test(arguments: [
        ("148.97", 148.97), ("02:28", 148.0), ("1:02:28", 3748.0), ("0", nil), ("", nil), ("abc", nil), ("1:99", nil),
        ("-5", nil), ("1:2:3:4", nil), ("99999999999", nil), ("1e5", nil), ("1.2.3", nil), (" 561 ", 561.0), (":", nil),
        ("nan", nil), ("12:3.5", 723.5),
    ])
    func `lengths are read in every form`(text: String, seconds: Double?) {
        #expect(CatalogDuration.archivedSeconds(parsing: text) == seconds)
    }

    @Test(arguments: [
        ("a b", "a%20b"), ("a#b?c%d", "a%23b%3Fc%25d"), ("ü/1.mp3", "%C3%BC/1.mp3"), ("a//b", "a//b"), ("~-._", "~-._"),
        ("a&b=c+d", "a%26b%3Dc%2Bd"),
    ])
    func `paths are encoded segment by segment`(path: String, expected: String) {
        #expect(AddressPath.encoded(path: path) == expected)
    }

    @Test(arguments: [
        ("a%20b", "a b"), ("a%2520b", "a%20b"), ("a%2Fb", "a%2Fb"), ("%00", "%00"), ("%FF", "%FF"), ("100%", "100%"),
        ("%zz", "%zz"), ("%E7%AC%AC", "第"), ("a+b", "a+b"),
    ])
    func `a segment is decoded once, and only where a name comes of it`(segment: String, name: String) {
        #expect(AddressPath.name(segment) == name)
    }
}
