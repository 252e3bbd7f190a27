import BookModel
import Foundation
import Support
import Testing

@testable import CatalogFetcher

/// The cases of listparser's own tests: what they expect of a file is what we read from it, save for what is named here.
@Suite struct OutlineCorpusTests {
    /// What is expected and not asked of us, by the beginning of the expectation, with the reason.
    private static let reasons = [
        "result['version']": "the version changes nothing of how a list is read",
        "result['meta']['author']": "of the head only the title is read",
        "result['meta']['created']": "of the head only the title is read",
        "result['meta']['modified']": "of the head only the title is read",
        "result['meta'].get(": "of the head only the title is read",
        "not result['meta'].get(": "of the head only the title is read",
        "result['meta']['title'] == result['meta']['author']": "of the head only the title is read; it is tested below",
        "result['bozo'] == 1": "only dates of the head are wrong there, which are not read",
        "result['bozo'] == 0": "whether a list is well-formed is not told; that it is read is",
        "result['bozo'] is False": "whether a list is well-formed is not told; that it is read is",
    ]
    /// Files that are no list of feeds, and are refused as such.
    private static let refused = [
        "listparser/unknown-namespace.xml": "it is no OPML: a list without feeds would hide that"
    ]

    private static func cases() throws -> [(file: String, expectations: [String])] {
        try Corpus.rows("opml/MANIFEST.tsv").map { columns in
            (columns[0], columns[4].replacing("\"", with: "'").components(separatedBy: "; "))
        }
    }

    @Test func `every case gives the same feeds as listparser, or has its reason`() throws {
        let cases = try Self.cases()
        #expect(cases.count == 46)
        var held = 0
        for (file, expectations) in cases {
            let bytes = try Corpus.bytes("opml/\(file)")
            if Self.refused[file] != nil {
                let failure = #expect(throws: Failure.self) { try OPMLReader.read(bytes, from: "\(file)") }
                #expect(failure?.kind == .unreadableCatalog)
                continue
            }
            let document = try OPMLReader.read(bytes, from: "\(file)")
            for expectation in expectations {
                if let holds = Self.holds(expectation, of: document) {
                    #expect(holds, "\(file): \(expectation), but read was \(document)")
                    held += 1
                } else {
                    #expect(
                        Self.reasons.contains { expectation.hasPrefix($0.key) }, "\(file): \(expectation) has no reason"
                    )
                }
            }
        }
        #expect(held == 65)
    }

    @Test func `the head's title is read with HTML's entities`() throws {
        let bytes = try Corpus.bytes("opml/listparser/malformed__html-entity-text-1.xml")
        #expect(try OPMLReader.read(bytes, from: "it").title == "archæology")
    }

    /// - Returns: nil for an expectation that is not known here.
    private static func holds(_ expectation: String, of document: OPMLDocument) -> Bool? {
        if let match = expectation.wholeMatch(of: /result\['meta'\]\['title'\] == '(.*)'/) {
            return document.title == String(match.1)
        }
        if let match = expectation.wholeMatch(of: /len\(result\['(\w+)'\]\) == (\d+)/) {
            let count = match.1 == "feeds" ? document.feeds.count : links(String(match.1), of: document).count
            return count == Int(match.2)
        }
        if let match = expectation.wholeMatch(of: /result\['(\w+)'\]\[0\]\['(title|url)'\] == '(.*)'/) {
            if match.1 == "feeds" {
                let feed = document.feeds.first
                return (match.2 == "title" ? feed?.title : feed?.address?.secretText) == String(match.3)
            }
            let link = links(String(match.1), of: document).first
            return (match.2 == "title" ? link?.title : link?.address.secretText) == String(match.3)
        }
        if expectation == "result['feeds'][0]['title'] == result['feeds'][1]['title']" {
            return document.feeds.count == 2 && document.feeds[0].title == document.feeds[1].title
                && document.feeds[0].title == "archæology"
        }
        return tagsHold(expectation, of: document.feeds.first?.tags.map(\.path) ?? [])
    }

    /// listparser calls a folder a tag when it is within no other, and every folder a category.
    private static func tagsHold(_ expectation: String, of paths: [[String]]) -> Bool? {
        let tags = paths.filter { $0.count == 1 }.map { $0[0] }
        func names(_ text: Substring) -> [String] {
            text.components(separatedBy: ", ").map { String($0.dropFirst().dropLast()) }
        }
        if let match = expectation.wholeMatch(of: /len\(result\['feeds'\]\[0\]\['(tags|categories)'\]\) == (\d+)/) {
            return (match.1 == "tags" ? tags.count : paths.count) == Int(match.2)
        }
        if let match = expectation.wholeMatch(of: /'(.*)' in result\['feeds'\]\[0\]\['tags'\]/) {
            return tags.contains(String(match.1))
        }
        if let match = expectation.wholeMatch(of: /\[(.*)\] in result\['feeds'\]\[0\]\['categories'\]/) {
            return paths.contains(names(match.1))
        }
        if let match = expectation.wholeMatch(of: /result\['feeds'\]\[0\]\['tags'\] == \[(.*)\]/) {
            return tags == names(match.1)
        }
        if let match = expectation.wholeMatch(of: /result\['feeds'\]\[0\]\['categories'\]\[0\] == \[(.*)\]/) {
            return paths.first == names(match.1)
        }
        return nil
    }

    private static func links(_ name: String, of document: OPMLDocument) -> [OutlineLink] {
        name == "lists" ? document.lists : name == "opportunities" ? document.pages : []
    }

    @Test func `damaged lists are read or refused in a sentence`() throws {
        for (place, (file, _)) in try Self.cases().enumerated() {
            for bytes in SpoiltInput.of(try Corpus.bytes("opml/\(file)"), seed: UInt64(place)) {
                do {
                    let document = try OPMLReader.read(bytes, from: "\(file)")
                    #expect(document.feeds.count <= bytes.count)
                    #expect(document.feeds.allSatisfy { $0.tags.allSatisfy { !$0.path.isEmpty } })
                } catch let failure as Failure {
                    #expect(failure.kind == .unreadableCatalog && failure.description.utf8.count < 2000)
                }
            }
        }
    }
}
