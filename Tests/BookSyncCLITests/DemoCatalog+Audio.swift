import Support

@testable import BookSyncWeb

extension DemoCatalog {
    /// The id of the short book: 6 episodes.
    static let shortBook = "40111"

    /// The bytes of an episode's audio; nil when the book has no such episode or it is locked.
    static func audio(book: String, section: Int) -> [UInt8]? {
        guard let book = DemoBook.withID(book), book.isListed(section), !book.isLocked(section) else { return nil }
        return DemoAudio(book: book, section: section).bytes
    }

    /// SHA-256 of an episode's audio in lower-case hexadecimal; nil when the book has no such episode or it is locked.
    static func sha256(book: String, section: Int) -> String? {
        audio(book: book, section: section).map(Support.sha256)
    }
}
