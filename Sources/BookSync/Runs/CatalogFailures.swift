import BookModel
import CatalogFetcher
import Foundation

/// What kept catalogs from being read, told once for all the books that it concerns: a server that is down is one line,
/// and not one a book.
struct CatalogFailures: Sendable {
    private struct Entry {
        var index: Int
        var book: BookIdentity
        var server: String
        var failure: Failure
        /// The one that was asked for: where it is another, the book was given up with that.
        var cause: BookIdentity
    }

    private var entries: [Entry] = []
    /// Servers that answered anything, sources that listed a book, and books that were listed: the subjects of outages
    /// that are over.
    private(set) var answered: Set<String>
    /// Of the books that failed, as far as they are known.
    var titles: [BookIdentity: String] = [:]

    /// The books that failed.
    var books: Set<BookIdentity> { Set(entries.map(\.book)) }

    /// - Parameter answered: those that are known to have answered.
    init(answered: Set<String> = []) { self.answered = answered }

    mutating func record(
        _ failure: Failure, of book: BookIdentity, at server: String, index: Int, with cause: BookIdentity? = nil
    ) {
        entries.append(Entry(index: index, book: book, server: server, failure: failure, cause: cause ?? book))
        if cause == nil, [.refused, .rejected].contains(failure.catalogOutcome) { answered.insert(server) }
    }

    mutating func recordListing(of book: BookIdentity, at server: String, isComplete: Bool = true) {
        if isComplete { answered.insert(Self.subject(ofListing: book)) }
        answered.formUnion([
            server, Self.subject(ofSource: book.source), Self.subject(ofCredentialsFor: book, at: server),
            Self.subject(of: book),
        ])
    }

    static func subject(ofSource name: String) -> String { "source \(name)" }
    /// Books that are followed by their addresses share a source, and no server that could reject their credentials.
    static func subject(ofCredentialsFor book: BookIdentity, at server: String) -> String {
        subject(ofSource: book.source) + (book.id.contains("://") ? " at \(server)" : "")
    }
    static func subject(of book: BookIdentity) -> String { "book \(book)" }
    /// One that lacks episodes.
    static func subject(ofListing book: BookIdentity) -> String { "listing of \(book)" }
    /// What ended a run as a whole, such as a full disk.
    static let library = "library"

    /// What is to be told, in the order of the request, and noted until it is over.
    /// - Parameter known: by their subjects, from earlier runs.
    func reports(known: [String: Outage], at now: Date) -> [(report: FailureReport, outage: Outage)] {
        var subjects: [String] = []
        var grouped: [String: [Entry]] = [:]
        for entry in entries.sorted(by: { $0.index < $1.index }) {
            let subject = subject(of: entry)
            if grouped[subject] == nil { subjects.append(subject) }
            grouped[subject, default: []].append(entry)
        }
        return subjects.map { subject in
            let entries = grouped[subject] ?? []
            var outage = Outage.met(subject, error: "", known: known, at: now)
            let failure = failure(of: entries, outage: outage)
            outage.error = failure.message
            var report = FailureReport(book: entries.first?.book, failure: failure)
            report.books = entries.map(\.book)
            return (report, outage)
        }
    }

    /// A server that lists other books is not down, whatever becomes of one book.
    private func subject(of entry: Entry) -> String {
        let credentials = Self.subject(ofCredentialsFor: entry.book, at: entry.server)
        switch entry.failure.kind {
        case .catalogUnavailable where !answered.contains(entry.server): return entry.server
        case .credentialsRejected where !answered.contains(credentials): return credentials
        case .configuration: return Self.subject(ofSource: entry.book.source)
        default: return Self.subject(of: entry.cause)
        }
    }

    /// How many of several books are named.
    private static let maxNamed = 3

    private func failure(of entries: [Entry], outage: Outage) -> Failure {
        let first = entries[0].failure
        var (what, why) = (first.what, first.why)
        if entries.count > 1 {
            what =
                first.kind == .catalogUnavailable
                ? "the catalogs of \(entries.count) books cannot be fetched from \(entries[0].server)"
                : "\(what), for \(entries.count) books"
            let asked = entries.count { $0.cause == $0.book }
            if asked < entries.count {
                why =
                    asked == 1
                    ? "\(why); 1 of them was tried, the rest skipped"
                    : "\(why); \(asked) of them were tried, the rest skipped"
            }
        }
        let named = entries.compactMap { titles[$0.book] }.filter { !$0.isEmpty }.prefix(Self.maxNamed)
        let list = named.joined(separator: ", ")
        if named.count == entries.count {
            what = "\(list): \(what)"
        } else if !named.isEmpty {
            what = "\(list) and \(entries.count - named.count) more: \(what)"
        }
        if outage.runs > 1 { why = "\(why); failing since \(outage.since), \(outage.runs) runs" }
        return Failure(first.kind, disposition: first.disposition, what: what, why: why, remedy: first.remedy)
    }
}
