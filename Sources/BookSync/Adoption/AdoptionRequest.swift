import BookModel
import SyncPlanner

/// A folder whose files are to be recognised as episodes of a book.
package struct AdoptionRequest: Sendable {
    /// How a recognised file comes to be in the library.
    package enum ImportMode: String, Sendable, CaseIterable {
        /// It is in the library already, and stays where it is.
        case inPlace = "in_place"
        /// A second name for the same bytes; both must be on one disk.
        case link
        case copy
        case move
    }

    /// Absolute; nil where there are records and no files.
    package var folder: String?
    package var book: BookIdentity
    /// Overrides what the catalog says.
    package var title: String?
    /// nil for ``ImportMode/inPlace``, which a folder outside the library refuses.
    package var way: ImportMode?
    /// What another program recorded of the book: then only files of these episodes are recognised, and those of them that
    /// have none are not fetched again.
    package var records: [FetchRecord]?

    package init(
        folder: String?, book: BookIdentity, title: String? = nil, way: ImportMode? = nil,
        records: [FetchRecord]? = nil
    ) {
        (self.folder, self.way, self.records) = (folder, way, records)
        (self.book, self.title) = (book, title)
    }
}

/// What came, or would come, of an adoption.
package struct AdoptionReport: Sendable {
    package struct Item: Sendable {
        package var episode: Episode
        /// Relative to the folder.
        package var from: String
        /// Relative to the library.
        package var path: String
        /// Bytes.
        package var size: Int64
        var confidence: EpisodeMatcher.Confidence
        /// By what it was recognised: `digest`, `record`, `size` or `name`.
        package var by: String { confidence.rawValue }
        var verification: LocalFile.Verification {
            confidence == .record && episode.size == size ? .length : confidence.verification
        }
        /// Why it was recognised and not adopted; nil where it was.
        package var failure: Failure?
    }

    package var book: Book
    package var way: AdoptionRequest.ImportMode
    package var isDryRun: Bool
    package var recognised: [Item] = []
    /// Files, relative to the folder, with the episodes that each may be: left alone.
    package var ambiguous: [(path: String, episodes: [Episode])] = []
    /// Files that are no missing episode of the book, relative to the folder: left alone.
    package var unmatched: [String] = []
    /// How many files of the folder were recorded before.
    package var known = 0
    /// Episodes that another program had fetched and that have no file: they count as removed.
    package var fetchedBefore: [Episode] = []
    /// How many of that program's records are of no episode of the catalog.
    package var unlisted = 0

    package var failures: [Failure] { recognised.compactMap(\.failure) }
    package var adopted: Int { recognised.count { $0.failure == nil } }

    /// `30776 回到古代当兽医: 12 adopted, 2 ambiguous, 1 not recognised`.
    package var sentence: Message {
        var parts: [Message] = [isDryRun ? "\(adopted) to adopt" : "\(adopted) adopted"]
        if !failures.isEmpty { parts.append("\(failures.count) failed") }
        if !ambiguous.isEmpty { parts.append("\(ambiguous.count) ambiguous and left alone") }
        if !unmatched.isEmpty { parts.append("\(unmatched.count) not recognised and left alone") }
        if known > 0 { parts.append("\(known) recorded already") }
        if !fetchedBefore.isEmpty { parts.append("\(fetchedBefore.count) fetched before and not fetched again") }
        if unlisted > 0 { parts.append("\(unlisted) no longer listed by the catalog") }
        return "\(book.identity.id) \(book.title): \(parts.joined(separator: ", "))"
    }
}
