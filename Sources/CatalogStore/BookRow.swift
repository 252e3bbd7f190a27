import BookModel
import GRDB

/// A book as its row says it: what is compared with the stored row, and written when it differs.
struct BookRow: Sendable {
    /// The values of ``columns``.
    private let content: [DatabaseValue]
    private let isComplete: Bool

    /// What the catalog says about a book. A difference in any of them is a change; that a listing broke off is none.
    private static let columns = ["title", "author", "announcer", "summary", "cover", "declared"]

    init(_ book: Book, proof: ListingProof) {
        let values: [(any DatabaseValueConvertible)?] = [
            book.title.isEmpty ? nil : book.title, book.author, book.announcer, book.summary,
            book.cover?.withoutSecrets, proof.declared ?? book.declaredEpisodes,
        ]
        self.content = values.map { $0?.databaseValue ?? .null }
        self.isComplete = proof.isComplete
    }

    enum Comparison {
        case same
        /// Only whether the listing was complete differs.
        case otherProof
        case different
    }

    func compared(with id: Int64, _ database: Database) throws -> Comparison {
        let conditions = Self.columns.map { "\($0) IS ?" }.joined(separator: " AND ")
        let statement = try database.cachedStatement(
            sql: "SELECT ((\(conditions)) << 1) | (complete = ?) FROM book WHERE id = ?")
        let arguments = StatementArguments(content + [isComplete.databaseValue, id.databaseValue])
        switch try Int64.fetchOne(statement, arguments: arguments) {
        case 3: return .same
        case 2: return .otherProof
        default: return .different
        }
    }

    func update(_ id: Int64, _ database: Database) throws {
        let assignments = Self.columns.map { "\($0) = ?" }.joined(separator: ", ")
        try database.cachedStatement(sql: "UPDATE book SET \(assignments), complete = ? WHERE id = ?")
            .execute(arguments: StatementArguments(content + [isComplete.databaseValue, id.databaseValue]))
    }
}
