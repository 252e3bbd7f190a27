import BookModel
import Testing

@testable import SyncPlanner

@Suite struct FileNameHintTests {
    @Test(arguments: [
        ("007 山村", 7), ("7", 7), ("第7集 山村", 7), ("第十二集", 12), ("第一百零三回 归来", 103), ("第二〇集", 20),
        ("(07) x", 7), ("  7. x", 7), ("回到古代当兽医 07", 7), ("alice_01_carroll_64kb", 1), ("Chapter 12", 12),
        ("７ full width", 7), ("2 of 3", 2), ("Teil3", 3), ("2024-01-05 news", nil), ("Book 2 - 07", nil),
        ("S01E07", nil), ("no number", nil), ("12345678", nil), ("第集", nil), ("", nil), ("½", nil),
        ("第一千二百三十四集", 1234), ("第五百六十七章", 567), ("第八十九回", 89), ("第四集", 4), ("第两百集", 200),
        ("第二百十集", 210), ("第十集", 10), ("第二十集", 20), ("第一〇五集", 105), ("第零集", 0),
        ("第一二三四五六集", 123456), ("第一二三四五六七集", nil), ("123456", 123456), ("1234567", nil),
        ("山村 第7集 2", 7), ("👨‍👩‍👧 7", 7), ("1900-1 news", 1900), ("1901-1 news", nil), ("2024 news", 2024),
        ("2024. news", 2024), ("９", 9), ("０3", 3), ("chapter 64kb", nil), ("7 of 64KB", 7),
    ])
    func `a name says which number it has, or that nobody can tell`(name: String, number: Int?) {
        #expect(FileNameHint(name, title: "回到古代当兽医").number == number)
    }

    @Test(arguments: [
        ("007 山村", "第7集 山村", true), ("07 The Mountain Village", "the mountain village", true),
        ("07 Mountain Vilage", "Mountain Village", true), ("07 Sea", "Mountain Village", false), ("07", "山村", true),
        ("7 A", "Mountain", true), ("7 x", "Mountain", false),
        ("7 abc", "abcabcabc", false), ("ab", "abab", true), ("abcd", "abxycdz", false), ("", "", true),
    ])
    func `names are alike by their letters`(one: String, other: String, alike: Bool) {
        let (one, other) = (FileNameHint(one, title: ""), FileNameHint(other, title: ""))
        #expect((one.similarity(to: other) >= FileNameHint.likely) == alike)
        #expect(one.similarity(to: other) == other.similarity(to: one))
    }

    @Test func `the same letters are the same name, however few they are`() {
        let letter = FileNameHint("A", title: "")
        #expect(FileNameHint("7 A", title: "").similarity(to: letter) == 1)
        #expect(FileNameHint("7 AB", title: "").similarity(to: letter) == FileNameHint.likely)
        #expect(FileNameHint("Sea", title: "").similarity(to: FileNameHint("Mountain", title: "")) == 0)
    }
}

@Suite struct EpisodeMatcherTests {
    private let title = Book(identity: book, title: "Book")

    private func episode(
        _ section: Int, _ name: String = "山村", size: Int64? = 1000, md5: String? = nil
    ) -> Episode {
        Episode(
            identity: EpisodeIdentity(book: book, key: "id\(section)"), section: section, name: name, size: size,
            digest: md5.map { ContentDigest(algorithm: .md5, hexadecimal: $0) })
    }

    /// The matches, with every file looked into: `7 size 7.mp3`.
    private func matches(
        _ episodes: [Episode], _ sizes: [String: Int64], _ contents: [String: ExaminedFile.Beginning] = [:],
        md5: [String: String] = [:], least: EpisodeMatcher.Confidence = .name
    ) -> (found: [String], ambiguous: [String: [Int]]) {
        let files = sizes.mapValues { facts(size: $0) }
        let examined = files.reduce(into: [String: ExaminedFile]()) { examined, file in
            examined[file.key] = ExaminedFile(
                facts: file.value, beginning: contents[file.key] ?? .audio, digests: [.md5: md5[file.key] ?? "?"])
        }
        let matcher = EpisodeMatcher(episodes, of: title, among: files, examined: examined, least: least)
        return (
            matcher.matches.map { "\($0.episode.section) \($0.confidence) \($0.path)" },
            matcher.ambiguous.mapValues { $0.map(\.section) }
        )
    }

    @Test func `a digest outranks every name`() {
        let found = matches(
            [episode(1, md5: "aa"), episode(2, md5: "bb")], ["1.mp3": 1000, "x.mp3": 1000],
            md5: ["1.mp3": "bb", "x.mp3": "aa"]
        ).found
        #expect(found == ["1 digest x.mp3", "2 digest 1.mp3"])
    }

    @Test func `a file with another digest is not taken by its name`() {
        #expect(matches([episode(1, md5: "aa")], ["1 山村.mp3": 1000], md5: ["1 山村.mp3": "bb"]).found == [])
    }

    @Test func `exact size and number come before number and name`() {
        let found = matches([episode(1), episode(2)], ["1 山村.mp3": 999, "1.mp3": 1000, "2 山村.mp3": 999]).found
        #expect(found == ["1 size 1.mp3", "2 name 2 山村.mp3"])
    }

    @Test func `the size alone is not enough, nor the number alone`() {
        #expect(matches([episode(1)], ["a.mp3": 1000, "1 something else.mp3": 999]).found == [])
    }

    @Test(arguments: [(899, false), (900, true), (1100, true), (1101, false), (1650, false)])
    func `a name is not enough for a file that is more than a tenth off the catalog's size`(
        size: Int64, isTaken: Bool
    ) {
        #expect(matches([episode(1)], ["1 山村.mp3": size]).found.isEmpty != isTaken)
        #expect(matches([episode(1, size: nil)], ["1 山村.mp3": size]).found == ["1 name 1 山村.mp3"])
    }

    @Test func `a file that says it is another one of the episodes is not taken for this one`() {
        let mark = FileMark(episode: EpisodeIdentity(book: book, key: "id2"), sha256: "aa")
        let facts = facts(size: 1000)
        for (episodes, isTaken) in [([episode(1), episode(2)], false), ([episode(1)], true)] {
            let matcher = EpisodeMatcher(
                episodes, of: title, among: ["1.mp3": facts],
                examined: ["1.mp3": ExaminedFile(facts: facts, beginning: .audio, mark: mark)], least: .name)
            #expect(matcher.matches.isEmpty != isTaken)
        }
    }

    @Test func `what fits twice is left alone, and said`() {
        let twice = matches([episode(1)], ["1 山村.mp3": 1000, "01 山村.mp3": 1000])
        #expect(twice.found == [])
        #expect(twice.ambiguous == ["1 山村.mp3": [1], "01 山村.mp3": [1]])
        var twin = episode(2)
        twin.section = 1
        let shared = matches([episode(1), twin], ["1.mp3": 1000])
        #expect(shared.found == [])
        #expect(shared.ambiguous == ["1.mp3": [1, 1]])
    }

    @Test func `of two with the right size and number the likelier name wins`() {
        #expect(matches([episode(1)], ["1 山村.mp3": 1000, "1 sea.mp3": 1000]).found == ["1 size 1 山村.mp3"])
    }

    @Test func `what is no audio is not taken, whatever its size and name`() {
        #expect(matches([episode(1)], ["1 山村.mp3": 1000], ["1 山村.mp3": .foreign("an HTML page")]).found == [])
        #expect(matches([episode(1)], ["1 山村.mp3": 1000], ["1 山村.mp3": .unknown]).found == ["1 size 1 山村.mp3"])
        #expect(matches([episode(1)], ["1 山村.mp3": 999], ["1 山村.mp3": .unknown]).found == [])
        #expect(matches([episode(1)], ["1 山村.mp3": 1000, "1 山村.mp3.aria2": 50]).found == [])
        #expect(matches([episode(1, size: 0)], ["1 山村.mp3": 0]).found == [])
    }

    @Test func `nothing is said of a file before it was looked into`() {
        let files = ["1.mp3": facts(size: 1000), "2.mp3": facts(size: 1000)]
        let matcher = EpisodeMatcher(
            [episode(1), episode(2, md5: "aa")], of: title, among: files, examined: [:], least: .size)
        #expect(matcher.matches == [])
        #expect(matcher.questions == ["1.mp3": .whole([.md5]), "2.mp3": .whole([.md5])])
        let plain = EpisodeMatcher([episode(1)], of: title, among: files, examined: [:], least: .size)
        #expect(plain.questions == ["1.mp3": .beginning])
    }

    @Test func `files with one digest are given out one each`() {
        let episodes = [episode(1, md5: "aa"), episode(2, md5: "aa")]
        let two = matches(episodes, ["a.mp3": 1000, "b.mp3": 1000], md5: ["a.mp3": "aa", "b.mp3": "aa"])
        #expect(two.found == ["1 digest a.mp3", "2 digest b.mp3"])
        #expect(matches(episodes, ["a.mp3": 1000], md5: ["a.mp3": "aa"]).found == ["1 digest a.mp3"])
    }

    @Test func `what two could be by their size is nobody's by its name`() {
        var (twin, third) = (episode(2), episode(3, size: 990))
        (twin.section, third.section) = (1, 1)
        let found = matches([episode(1), twin, third], ["1 山村.mp3": 1000])
        #expect(found.found == [])
        #expect(found.ambiguous == ["1 山村.mp3": [1, 1]])
    }

    @Test func `an episode whose own bytes are on their way takes a file by its digest alone`() {
        let files = ["1.mp3": facts(size: 1000), "2.mp3": facts(size: 1000)]
        let examined = files.mapValues { ExaminedFile(facts: $0, beginning: .audio, digests: [.md5: "aa"]) }
        let matcher = EpisodeMatcher(
            [episode(1), episode(2, md5: "aa")], of: title, among: files, examined: examined,
            digestOnly: ["id1", "id2"], least: .name)
        #expect(matcher.matches.map(\.episode.section) == [2])
    }

    @Test(arguments: [
        ("Book/07 山村.mp3", "07 山村"), ("07.mp3", "07"), ("Book.d/07", "07"), ("Book/.07", ".07"), ("a.b.mp3", "a.b"),
        ("Book/07.", "07"), ("", ""),
    ])
    func `a name counts without its folder and its extension`(path: String, stem: String) {
        #expect(EpisodeMatcher.stem(of: path) == stem)
    }
}
