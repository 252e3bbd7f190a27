import Foundation

/// What a run was and what it came to, as the store keeps it: written when it begins and again when it ends, so that one
/// that was killed shows as cut off.
package struct RunRecord: Sendable, Hashable {
    package var number: Int64
    /// `fetch`, `mirror`.
    package var command: String
    package var startedAt: Date
    /// nil while it is under way, and for ever where it was cut off.
    package var endedAt: Date?
    /// What the process exited with; nil as long as ``endedAt`` is.
    package var exitCode: Int?
    /// How many books it was about.
    package var books: Int
    /// Some of them, ``maxNamed`` at most: first those of which something came or failed.
    package var named: [NamedBook]
    /// Its counts.
    package var summary: RunSummary
    /// The sentence of its first failure.
    package var error: Message?

    package static let maxNamed = 20

    /// A book with its title; nil where the store does not know it.
    package struct NamedBook: Sendable, Hashable {
        package var book: BookIdentity
        package var title: String?

        package init(_ book: BookIdentity, title: String? = nil) {
            self.book = book
            self.title = title
        }
    }

    package init(
        number: Int64, command: String, startedAt: Date, endedAt: Date? = nil, exitCode: Int? = nil, books: Int = 0,
        named: [NamedBook] = [], summary: RunSummary = RunSummary(), error: Message? = nil
    ) {
        self.number = number
        self.command = command
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.exitCode = exitCode
        self.books = books
        self.named = named
        self.summary = summary
        self.error = error
    }
}

/// Something that fails run after run: a server that does not answer, credentials that are rejected, a book that its
/// source no longer knows, a full disk.
package struct Outage: Sendable, Hashable {
    /// What fails, in words that stay the same from run to run and hold no secret: `http://catalog.example`, `source kting`,
    /// `book kting:30776`, `library`.
    package var subject: String
    /// When it was first met.
    package var since: Date
    /// In how many runs it was met since then.
    package var runs: Int
    /// The sentence of its last failure.
    package var error: Message
    /// Whether the user was alerted to it.
    package var isReported: Bool

    package init(subject: String, since: Date, runs: Int = 1, error: Message, isReported: Bool = false) {
        self.subject = subject
        self.since = since
        self.runs = runs
        self.error = error
        self.isReported = isReported
    }

    /// The outage of a subject after one more run that met it.
    /// - Parameter known: those of earlier runs, by their subjects.
    package static func met(_ subject: String, error: Message, known: [String: Outage], at now: Date = .now) -> Outage {
        var outage = known[subject] ?? Outage(subject: subject, since: now, runs: 0, error: error)
        outage.runs.addSaturated(1)
        outage.error = error
        return outage
    }
}

/// When a book that is still appearing was last added to, and how often it is.
package struct PublicationWatch: Sendable, Hashable {
    package var book: BookIdentity
    package var title: String
    /// When its newest episode was published, as the catalog says.
    package var latest: Date
    /// Seconds that usually lie between two of its episodes; more than 0.
    package var usualGap: Double
    /// Whether the user knows that nothing came for long after ``latest``.
    package var isReported: Bool

    package init(book: BookIdentity, title: String, latest: Date, usualGap: Double, isReported: Bool) {
        self.book = book
        self.title = title
        self.latest = latest
        self.usualGap = usualGap
        self.isReported = isReported
    }
}
