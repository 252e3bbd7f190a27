import BookModel
import CatalogFetcher
import Foundation
import Support

/// The readers of catalog answers, by the form of what they read.
enum FuzzedReader: String, CustomStringConvertible {
    case feed, json, html

    var description: String { rawValue }

    /// What came of one input.
    struct Outcome: CustomStringConvertible {
        var listings = 0
        var episodes = 0
        var refusals = 0
        /// What is wrong with the result; the kind stands before the colon.
        var complaints: [String] = []

        var description: String {
            (["\(listings) listings with \(episodes) episodes, \(refusals) refusals"] + complaints)
                .joined(separator: "\n  ")
        }
    }

    private static let page = ResourceAddress("http://user:pass@books.example:8080/a%20b/plain/?x=1#f")

    private var formats: [any CatalogFormat] {
        switch self {
        case .feed: [FeedSettings(), OPDSSettings()]
        case .json:
            [
                BookResourceSettings(listAddress: ResourceAddress("http://books.example/list")),
                InternetArchiveSettings(), LibriVoxSettings(),
                DirectorySettings(), OPDSSettings(),
                AudiobookshelfSettings(address: ResourceAddress("http://books.example")),
            ]
        case .html: [DirectorySettings(), DirectorySettings(depth: 2)]
        }
    }

    /// What the answer came with: an input is read in one of these ways.
    private var circumstances: [(address: ResourceAddress?, contentType: String?)] {
        switch self {
        case .feed:
            [
                (nil, nil), (Self.page, "application/rss+xml"), (Self.page, "text/xml; charset=gb18030"),
                (nil, "text/xml; charset=utf-16"), (Self.page, "text/xml; charset=\"big5\""),
                (nil, "application/atom+xml;charset=windows-1252"), (nil, "text/html; charset=nonsense"),
            ]
        case .json, .html: [(Self.page, nil), (nil, nil), (ResourceAddress("https://a.example"), "text/html")]
        }
    }

    var variants: Int { circumstances.count }

    /// Reads the input in every way that the form knows, and checks what comes of it.
    func read(_ input: [UInt8], variant: Int) -> Outcome {
        let circumstance = circumstances[variant]
        let answer = CatalogResponse(
            bytes: input, address: circumstance.address, contentType: circumstance.contentType)
        var outcome = Outcome()
        for kind in SourceKind.allCases where kind.format.bookID(in: answer) == "" {
            outcome.complaints.append("a book without an id: recognised as \(kind)")
        }
        for format in formats {
            do {
                let contents = try format.read(answer, source: "mine", id: nil)
                outcome.listings += 1
                outcome.episodes += contents.episodes.count
                outcome.complaints += ContentsCheck.complaints(about: contents)
            } catch let failure as Failure {
                outcome.refusals += 1
                outcome.complaints += ContentsCheck.complaints(about: failure)
            } catch {
                outcome.complaints.append("an error that is no failure: \(error)")
            }
        }
        return outcome
    }

    // MARK: What is altered

    private var folders: [String] {
        switch self {
        case .feed: ["rss/feedparser", "rss/podcastparser", "rss/librivox", "rss-hostile"]
        case .json: ["json-ia", "json-librivox", "json-lrts", "json-robustness", "html-index"]
        case .html: ["html-index"]
        }
    }

    /// Bytes. Altering a longer file again and again takes the time of a hundred others.
    private static let maxFile = 128 << 10

    /// The files below the folder or, where it is nil, those of ``Corpus``; and always the few samples of ``FuzzTokens``.
    ///
    /// - Returns: a group for each folder.
    func corpus(at folder: String?) throws -> [[[UInt8]]] {
        let inputs =
            folder.map { [Self.files(below: $0)] }
            ?? folders.map { folder in Corpus.names(in: folder).map { Corpus.file("\(folder)/\($0)") } }
        var groups = [FuzzTokens.samples(of: self).map { Array($0.utf8) }]
        for input in inputs {
            var files: [[UInt8]] = []
            for file in input where Self.mayBeAltered(file.lastPathComponent) {
                let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
                guard attributes[.type] as? FileAttributeType == .typeRegular,
                    let size = attributes[.size] as? NSNumber, size.intValue <= Self.maxFile
                else { continue }
                files.append(Array(try Data(contentsOf: file)))
            }
            if !files.isEmpty { groups.append(files) }
        }
        return groups
    }

    private static func files(below folder: String) -> [URL] {
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return names.sorted().map { URL(filePath: folder).appending(path: $0) }
    }

    /// Lists of the corpus and what tests expect are not input.
    private static func mayBeAltered(_ name: String) -> Bool {
        !name.hasSuffix(".tsv") && !name.hasSuffix("expected.json") && !name.hasSuffix(".md")
    }

    var tokens: [[UInt8]] { FuzzTokens.tokens(of: self) }
}
