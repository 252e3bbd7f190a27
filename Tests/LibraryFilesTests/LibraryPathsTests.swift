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

    @Test(arguments: [(1, nil, "001"), (112, nil, "112"), (1, 1000, "0001"), (20_000, 3, "20000")])
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

    @Test(arguments: 0..<40) func `whatever the names, all paths are safe, inside and distinct`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let templates = [
            NamingTemplate.standardText, "{name}", "{name}/{section} {name}.{ext}", "{author} {title} - {id}",
            "{published}/{name} ({year}).{ext}",
        ]
        var episodes: [Episode] = []
        for index in 0..<60 {
            var episode = Sample.episode(
                Int.random(in: 0...4, using: &random), HostileText.make(using: &random), key: "\(index)")
            if Bool.random(using: &random) {
                episode.identity = EpisodeIdentity(
                    book: episode.identity.book, key: HostileText.make(using: &random) + "\(index)")
            }
            episodes.append(episode)
        }
        let book = Sample.book(HostileText.make(using: &random), author: HostileText.make(using: &random))
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
