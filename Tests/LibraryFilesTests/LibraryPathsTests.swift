import BookModel
import Foundation
import Support
import Testing

@testable import LibraryFiles

@Suite struct LibraryPathsTests {
    private let plain = "Author/Book/001 Song.mp3"

    private func paths(
        _ episodes: [Episode], recorded: [String: String] = [:], template: String = NamingTemplate.standardText,
        declared: Int? = nil
    ) throws -> [String: String] {
        libraryPaths(
            for: episodes, of: Sample.book(declared: declared), template: try NamingTemplate(parsing: template),
            recorded: recorded)
    }

    @Test(arguments: [
        (1, nil, "001"), (112, nil, "112"), (1, 1000, "0001"), (20_000, 3, "20000"), (1, Int.max, "0000001"),
    ])
    func `numbers are padded for the maximum that is known`(section: Int, declared: Int?, number: String) throws {
        let key = "\(1000 + section)"
        #expect(
            try paths([Sample.episode(section, "x")], declared: declared) == [key: "Author/Book/\(number) x.mp3"])
    }

    @Test(arguments: [("Song", "Song"), ("Song", "song"), ("\u{E9}", "e\u{301}"), ("Straße", "STRASSE"), ("a:", "a：")])
    func `twins get distinct names, whatever their order`(one: String, other: String) throws {
        let twins = [Sample.episode(1, one, key: "a"), Sample.episode(1, other, key: "b")]
        let forward = try paths(twins)
        #expect(try paths(twins.reversed()) == forward)
        #expect(Set(forward.values.map(SafeName.comparisonKey)).count == 2)
        #expect(forward["a"]?.contains("[") == false)
        #expect(forward["b"]?.hasSuffix(" [b].mp3") == true)
    }

    @Test func `the twin whose file has the plain name keeps it`() throws {
        let twins = [Sample.episode(1, "Song", key: "a"), Sample.episode(1, "Song", key: "b")]
        #expect(
            try paths(twins, recorded: ["b": plain]) == ["a": "Author/Book/001 Song [a].mp3", "b": plain])
    }

    @Test func `a corrected case does not cost a twin its plain name`() throws {
        let twins = [Sample.episode(1, "song", key: "a"), Sample.episode(1, "Song", key: "b")]
        let named = try paths(twins, recorded: ["b": "Author/Book/001 SONG.mp3"])
        #expect(named["b"] == plain)
    }

    @Test func `a twin that is alone again keeps its name`() throws {
        let suffixed = "Author/Book/001 Song [b].mp3"
        #expect(try paths([Sample.episode(1, "Song", key: "b")], recorded: ["b": suffixed]) == ["b": suffixed])
    }

    @Test func `a name that imitates a suffix does not meet it`() throws {
        let episodes = [
            Sample.episode(1, "Song", key: "a"), Sample.episode(1, "Song", key: "b"),
            Sample.episode(1, "Song [b]", key: "c"),
        ]
        let named = try paths(episodes)
        #expect(Set(named.values).count == 3)
        #expect(try paths(episodes.reversed()) == named)
    }

    @Test func `keys that look alike in a file name make different suffixes`() throws {
        let keys = ["a/b", "a：b", "a／b", "K", "k", String(repeating: "长", count: 90), "..", "", "\u{0}", "\u{1}"]
        let named = try paths(keys.map { Sample.episode(1, "Song", key: $0) })
        #expect(Set(named.values.map(SafeName.comparisonKey)).count == keys.count)
        #expect(named.values.allSatisfy(isHarmless))
    }

    private func numbered(_ names: [String], from first: Int = 1, discs: [Int?] = []) -> [Episode] {
        names.enumerated().map { index, name in
            var episode = Sample.episode(first + index, name)
            episode.season = discs.isEmpty ? nil : discs[index]
            return episode
        }
    }

    /// The names of the first and of the last file.
    @Test(
        arguments: [
            (["01 - One", "02 - Two", "03 - Three"], [], "001 One", "003 Three"),
            (["1. One", "2) Two", "3_Three"], [], "001 One", "003 Three"),
            (["01 - One", "02 - Two", "01 - Three"], [1, 1, 2], "001 One", "003 Three"),
            (["00 - Preface", "01 - One"], [], "001 Preface", "002 One"),
            (["1 One"], [], "001 One", "001 One"),
            // Not in order, or not of all.
            (["02 - One", "01 - Two"], [], "001 02 - One", "002 01 - Two"),
            (["01 - One", "Epilogue"], [], "001 01 - One", "002 Epilogue"),
            (["01 - One", "02 - Two", "01 - Three"], [], "001 01 - One", "003 01 - Three"),
            // Numbers that the names need.
            (["1. Emma", "2. Emma"], [], "001 1. Emma", "002 2. Emma"),
            (["1914 War", "1915 More"], [], "001 1914 War", "002 1915 More"),
            (["1984"], [], "001 1984", "001 1984"), (["1st", "2nd"], [], "001 1st", "002 2nd"),
            (["1.5 x", "2.5 y"], [], "001 1.5 x", "002 2.5 y"), (["第1集", "第2集"], [], "001 第1集", "002 第2集"),
        ] as [([String], [Int?], String, String)])
    func `a book's own numbers are dropped where they only repeat the section`(
        names: [String], discs: [Int?], first: String, last: String
    ) throws {
        let episodes = numbered(names, discs: discs)
        let named = try paths(episodes)
        #expect(named["1001"] == "Author/Book/\(first).mp3")
        #expect(named["\(1000 + names.count)"] == "Author/Book/\(last).mp3")
        #expect(try paths(episodes, recorded: named) == named)
    }

    @Test(arguments: [
        ("{title}/{name}", "Book/01 - One.mp3"), ("{name} {section}", "01 - One 001.mp3"),
        ("{section}/{name}", "001/01 - One.mp3"), ("{section} {filename}", "001 01 - One.mp3"),
        ("{disc?{section} }{name}", "01 - One.mp3"), ("{section}{name? - {name}}", "001 - One.mp3"),
    ])
    func `numbers stay where the file name does not begin with the section`(template: String, expected: String) throws {
        var episodes = numbered(["01 - One", "02 - Two"])
        episodes[0].address = ResourceAddress("http://h/01%20-%20One.mp3")
        #expect(try paths(episodes, template: template)["1001"] == expected)
    }

    @Test func `files of a book that an earlier version named keep their names, and new ones follow them`() throws {
        var episodes = numbered((1...999).map { "\($0) - Chapter \($0)" })
        let recorded = Dictionary(
            uniqueKeysWithValues: episodes.dropLast().map {
                ($0.identity.key, "Author/Book/\(padded($0)) \($0.name).mp3")
            })
        let named = try paths(episodes, recorded: recorded)
        #expect(named.filter { recorded[$0.key] != nil } == recorded)
        #expect(named["1999"] == "Author/Book/999 999 - Chapter 999.mp3")
        // The thousandth gives all of them another digit, and no other name.
        episodes.append(Sample.episode(1000, "1000 - Chapter 1000"))
        #expect(try paths(episodes, recorded: named)["1001"] == "Author/Book/0001 1 - Chapter 1.mp3")
    }

    private func padded(_ episode: Episode) -> String { "\(1000 + episode.section)".dropFirst().description }

    @Test func `a book that was named without its numbers stays so when an episode without one comes`() throws {
        let episodes = numbered(["01 - One", "02 - Two"])
        let named = try paths(episodes)
        let all = episodes + [Sample.episode(3, "Epilogue"), Sample.episode(4, "7 Extras")]
        let later = try paths(all, recorded: named)
        #expect(named.allSatisfy { later[$0.key] == $0.value })
        #expect(later["1003"] == "Author/Book/003 Epilogue.mp3")
        #expect(later["1004"] == "Author/Book/004 Extras.mp3")
    }

    @Test func `an episode that is locked keeps the name that its file had at the source`() throws {
        let episode = Sample.episode(1, "One", address: "http://h/a.mp3")
        let named = try paths([episode], template: "{filename}")
        #expect(named == ["1001": "a.mp3"])
        #expect(try paths([Sample.episode(1, "One")], recorded: named, template: "{filename}") == named)
    }

    @Test(arguments: 0..<Tier.choose(quick: 4, full: 40, long: 400))
    func `whatever the names, all paths are safe, inside and distinct`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let templates = [
            NamingTemplate.standardText, "{name}", "{name}/{section} {name}.{ext}", "{author} {title} - {id}",
            "{published}/{name} ({year}).{ext}", "{series?{series}/}{part}{disc?{name}/..{id}/}{filename}",
            "{narrator? {narrator} /}{disc?CD{disc}/}{section} {name}", "{filename?.{filename}./}{id}",
        ]
        var episodes: [Episode] = []
        for index in 0..<60 {
            var episode = Sample.episode(
                Int.random(in: 0...4, using: &random), HostileText.make(using: &random), key: "\(index)",
                address: Bool.random(using: &random) ? "http://h/" + HostileText.make(using: &random) : nil)
            episode.season = Bool.random(using: &random) ? Int.random(in: -1...2, using: &random) : nil
            if Bool.random(using: &random) {
                episode.identity = EpisodeIdentity(
                    book: episode.identity.book, key: HostileText.make(using: &random) + "\(index)")
            }
            episodes.append(episode)
        }
        var book = Sample.book(
            HostileText.make(using: &random) + (Bool.random(using: &random) ? ", Book 2" : ""),
            author: HostileText.make(using: &random))
        book.narrator = HostileText.make(using: &random)
        for text in templates {
            let template = try NamingTemplate(parsing: text)
            let named = libraryPaths(for: episodes, of: book, template: template, recorded: [:])
            #expect(named.count == episodes.count)
            #expect(Set(named.values.map(SafeName.comparisonKey)).count == episodes.count)
            for path in named.values { #expect(isHarmless(path), "\(path.debugDescription)") }
            let shuffled = episodes.shuffled(using: &random)
            #expect(libraryPaths(for: shuffled, of: book, template: template, recorded: [:]) == named)
            #expect(libraryPaths(for: shuffled, of: book, template: template, recorded: named) == named)
        }
    }

    private func isHarmless(_ path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return parts.allSatisfy { part in
            let scalars = part.unicodeScalars
            return !part.isEmpty && part.utf8.count <= 255 && !part.hasPrefix(".")
                && scalars.last != "." && scalars.last != " " && scalars.first != " "
                && scalars.allSatisfy { !#"\:*?"<>|"#.unicodeScalars.contains($0) }
                && scalars.allSatisfy { $0.properties.generalCategory != .control && !Self.hiding.contains($0) }
                && Array(part.utf8) == Array(String(part).precomposedStringWithCanonicalMapping.utf8)
                && !["CON", "NUL", "AUX", "COM1"].contains(String(scalars.prefix { $0 != "." }).uppercased())
        } && path.hasSuffix(".mp3")
    }

    private static let hiding = Set(
        "\u{202A}\u{202B}\u{202C}\u{202D}\u{202E}\u{2066}\u{2067}\u{2068}\u{2069}\u{200E}\u{200F}\u{FEFF}\u{200B}"
            .unicodeScalars)
}

/// Names made of what has broken file names before.
private enum HostileText {
    private static let pieces = [
        "../", "/", "\\", "\u{0}", "CON", "nul", "COM1", ".", "..", " ", "a", "A", "e\u{301}", "\u{E9}", "\u{301}",
        "第一集", String(repeating: "长", count: 100), String(repeating: "x", count: 250), "👨‍👩‍👧", "\u{202E}", "\u{200D}",
        "\u{200F}", "\u{FEFF}", "\u{2028}", ":", "*?", "\"<>|", ".booksync", "~", "-", "$(rm)", "\u{1100}", "\u{1161}",
        "\u{FFFF}", "ß", "ſ", "İ", "\u{85}", "[1]", "{name}", "%2e%2e", "e" + String(repeating: "\u{301}", count: 200),
    ]

    static func make(using random: inout SeededGenerator) -> String {
        (0..<Int.random(in: 0...5, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
    }
}
