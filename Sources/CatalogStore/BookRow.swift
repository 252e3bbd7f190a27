import BookModel
import Foundation
import GRDB

/// A book as its row says it: what is compared with the stored row, and written when it differs.
struct BookRow: Sendable {
    /// The values of ``columns``.
    private let content: [DatabaseValue]
    /// Those of ``proofColumns``.
    private let proof: [DatabaseValue]

    /// What the catalog says about a book. A difference in any of them is a change; that a listing broke off is none.
    private static let columns = ["title", "author", "narrator", "summary", "language", "cover", "declared"]

    /// What else the listing leaves behind.
    private static let proofColumns = ["complete", "listing_validator", "candidate_names", "candidate_listings"]

    init(_ book: Book, proof: ListingProof) {
        let values: [(any DatabaseValueConvertible)?] = [
            book.title.isEmpty ? nil : book.title, book.author, book.narrator, book.summary, book.language,
            book.cover?.withoutSecrets, proof.declared ?? book.declaredEpisodes,
        ]
        self.content = values.map { $0?.databaseValue ?? .null }
        // It has only texts and a time, which can be encoded.
        let validator = proof.isComplete ? try? jsonText(proof.validator) : nil
        self.proof = [
            proof.isComplete.databaseValue,
            validator?.databaseValue ?? .null,
            book.candidateNames?.databaseValue ?? .null, book.candidateListings.databaseValue,
        ]
    }

    enum Comparison {
        case same
        /// Only what else the listing leaves behind differs.
        case otherProof
        case different
    }

    func compared(with id: Int64, _ database: Database) throws -> Comparison {
        func equal(_ columns: [String]) -> String { columns.map { "\($0) IS ?" }.joined(separator: " AND ") }
        let sql = "SELECT ((\(equal(Self.columns))) << 1) | (\(equal(Self.proofColumns))) FROM book WHERE id = ?"
        switch try database.value(sql, StatementArguments(content + proof + [id.databaseValue])) as Int64? {
        case 3: return .same
        case 2: return .otherProof
        default: return .different
        }
    }

    func update(_ id: Int64, _ database: Database) throws {
        let assignments = (Self.columns + Self.proofColumns).map { "\($0) = ?" }.joined(separator: ", ")
        try database.run(
            "UPDATE book SET \(assignments) WHERE id = ?", StatementArguments(content + proof + [id.databaseValue]))
    }
}
