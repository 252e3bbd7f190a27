import Foundation
import Support
import Testing

/// What the repository keeps of the corpus: every file is one that its folder's manifest names, with source and licence.
@Suite struct RecordedCatalogsTests {
    /// Files that tell of others, or that belong to one that the manifest names.
    private static let tables: Set<String> = [
        "MANIFEST.tsv", "FIELDS.tsv", "DATES.tsv", "DURATIONS.tsv", "expected.json", "oracle.json",
    ]

    @Test(
        arguments: [
            ("rss", 84, 161), ("rss-hostile", 79, 79), ("opml", 46, 46), ("html-index", 24, 26), ("json-ia", 4, 4),
            ("json-librivox", 14, 14), ("json-lrts", 16, 16), ("json-robustness", 113, 339),
        ])
    func `every file has a source and a licence, and none is missing`(folder: String, chosen: Int, whole: Int) throws {
        let rows = try Corpus.rows("\(folder)/MANIFEST.tsv")
        #expect(rows.allSatisfy { $0.count == 5 && !$0[1].isEmpty && !$0[2].isEmpty })
        let named = Set(rows.flatMap { $0[0].components(separatedBy: " + ") })
        let present = Corpus.names(in: folder).filter { name in
            !Self.tables.contains(name) && !name.hasSuffix(".expected.json")
        }
        #expect(present == named.sorted())
        #expect(present.count == Corpus.count(ofChosen: chosen, ofWhole: whole))
    }
}
