import BookModel
import Foundation
import Settings
import Support
import Testing

@testable import BookSync

/// What Audiobookshelf makes of a library's folder: its scanner's rules, as far as they matter here, against what a run leaves.
@Suite(.full, .limitedConcurrency) struct AudiobookshelfTests {
    /// A book as the scanner has it before it reads any tags.
    private struct Item {
        var folder: String
        var audio: [String] = []
        var others: [String] = []

        private var parts: [Substring] { folder.split(separator: "/") }
        /// Of `Author/Title`; with three folders or more the one between is a series.
        var author: String? { parts.count < 2 ? nil : String(parts[parts.count > 2 ? parts.count - 3 : 0]) }
        var series: String? { parts.count > 2 ? String(parts[parts.count - 2]) : nil }
        /// Without `{narrator}` at its end and `year - ` before it.
        var title: String {
            String(parts.last ?? "").replacing(/\ \{.*\}$/, with: "").replacing(/^\ *\(?\d{4}\)? *- *(?=.)/, with: "")
        }

        /// Of a file without tags: the first one to four digits of its name, once title and author, and the number of a disc,
        /// are taken out of it.
        func track(of name: String) -> Int? {
            var name = String(name.prefix(upTo: name.lastIndex(of: ".") ?? name.endIndex))
            for known in [title, author ?? "", series ?? ""] where !known.isEmpty {
                name = name.replacing(known, with: "", maxReplacements: 1)
            }
            name = name.replacing(/(?i)\bdisc \d\d?\b/, with: "", maxReplacements: 1)
                .replacing(/(?i)\bcd ?\d\d?\b/, with: "", maxReplacements: 1)
            return name.firstMatch(of: /\d{1,4}/).flatMap { Int($0.output) }
        }

        /// A picture called cover, else the first one.
        var cover: String? {
            let pictures = others.filter { $0.wholeMatch(of: /.*\.(jpg|jpeg|png|webp)/) != nil }
            return pictures.first { $0.wholeMatch(of: /cover\.[^.]*/) != nil } ?? pictures.first
        }
    }

    /// Every folder with audio is a book, with all that is below it; what begins with a dot is passed over.
    private static func scan(_ library: String) throws -> [Item] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: library).sorted().filter { path in
            var isFolder: ObjCBool = false
            return !path.split(separator: "/").contains { $0.hasPrefix(".") }
                && FileManager.default.fileExists(atPath: library + "/" + path, isDirectory: &isFolder)
                && !isFolder.boolValue
        }
        var items: [Item] = []
        for isAudio in [true, false] {
            for path in paths where path.hasSuffix(".mp3") == isAudio {
                let parts = path.split(separator: "/")
                let (folder, name) = (parts.dropLast().joined(separator: "/"), String(parts[parts.count - 1]))
                let place = items.firstIndex { folder == $0.folder || folder.hasPrefix($0.folder + "/") }
                if isAudio, place == nil { items.append(Item(folder: folder)) }
                guard let place = place ?? (isAudio ? items.count - 1 : nil) else { continue }
                if isAudio { items[place].audio.append(name) } else { items[place].others.append(name) }
            }
        }
        return items
    }

    private struct Listed: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var title: String
        var author: String
        var names: [Int: String]

        init(_ what: String, _ title: String, by author: String = "萧", _ names: [Int: String]) {
            (testDescription, self.title, self.author, self.names) = (what, title, author, names)
        }
    }

    private static let books = [
        Listed("a book", "回到古代当兽医", [1: "第1集", 2: "第2集", 112: "第112集"]),
        Listed("names that begin with their number", "书", [1: "001 序", 2: "2. 起", 10: "10"]),
        Listed("names with the title in them", "夜航", [1: "夜航 1", 2: "夜航02_夜航", 3: "3夜航"]),
        Listed("a title that is a number", "1984", [1: "1984 part 1", 1984: "1984", 3: "x"]),
        Listed("discs and parts", "Book", [1: "CD 02 Track 7", 2: "disc 1", 3: "Part 9"]),
        Listed("four digits", "长篇", [1: "一", 999: "九", 1000: "千", 9999: "末"]),
        Listed("a year before the title", "2001 - 太空漫游", [1: "第1集"]),
        Listed("braces behind the title", "书 {注}", [1: "第1集"]),
        Listed("a slash and a colon", "AC/DC: 传", by: "A/B", [1: "1/2", 2: "2:2"]),
        Listed("dots before the names", "...", by: ".hidden", [1: ".hidden", 2: "..."]),
    ]

    @Test(arguments: books)
    private func `a library is what its scanner takes it for`(_ listed: Listed) async throws {
        var catalog = ScriptedCatalog.episodes(1)
        catalog.elements = listed.names.map { section, name in
            .init(id: section, section: section, name: name, path: "/audio/\(section).mp3", size: 4000)
        }
        for section in listed.names.keys {
            catalog.audio["/audio/\(section).mp3"] = .file(ScriptedCatalog.bytes(section, 4000))
        }
        let detail: JSONDocument = [
            "status": .integer(0),
            "data": [
                "id": .integer(30776), "name": .string(listed.title), "author": .string(listed.author),
                "announcer": "乙", "cover": "/cover",
            ],
        ]
        catalog.audio["/detail"] = .always(.text(detail.text()))
        catalog.audio["/cover"] = .always(.reply(body: [0xFF, 0xD8, 0xFF, 0xE0, 1, 2]))
        try await withRunBench(catalog) { bench async throws in
            var bench = bench
            bench.configuration.sources["kting"]?.detailURL = bench.server.address("/detail")
            bench.configuration.downloads.export = [.cover, .metadata, .opf]
            #expect(try await bench.run(title: nil).failures.isEmpty)
            let items = try Self.scan(bench.library)
            let item = try #require(items.first)
            #expect(items.count == 1)
            #expect(item.series == nil && item.author != nil)
            #expect(item.audio.compactMap(item.track).sorted() == listed.names.keys.sorted(), "\(item.audio)")
            #expect(item.cover == "cover.jpg")
            // It outranks what is read from the names of folders, and a value that is null would empty what others say.
            let metadata = try bench.read("\(bench.library)/\(item.folder)/metadata.json")
            let known = try #require(try JSONSerialization.jsonObject(with: Data(metadata)) as? [String: Any])
            #expect(known["title"] as? String == listed.title && known["authors"] as? [String] == [listed.author])
            #expect(known["narrators"] as? [String] == ["乙"])
            // No catalog says it: an episode's date is none.
            #expect(known["publishedYear"] == nil && !known.values.contains { $0 is NSNull })
            #expect(["zh", nil].contains(known["language"] as? String))
            let bytes = try bench.read("\(bench.library)/\(item.folder)/metadata.opf")
            let package = String(decoding: bytes, as: UTF8.self)
            #expect(!package.contains("dc:date") && !package.contains(">und<"))
        }
    }
}
