import BookModel
import BookSync

/// The demo catalog's answers in the wire format of the book-resource API: keys sorted, null written out, as recorded from
/// the real servers.
enum DemoAnswers {
    /// The largest page given, whatever was asked for.
    static let pageLimit = 50
    static let unknownBook = (status: 3, message: "书籍不存在")
    static let illegalRequest = (status: 4, message: "非法请求")

    /// When the books were last changed: 2024-05-01 00:00 UTC, in milliseconds.
    static let lastModified: Int64 = 1_714_521_600_000

    /// One page of a book's episodes.
    /// - Parameters:
    ///   - query: The request's parameters.
    ///   - origin: `http://HOST:PORT`, put before the audio paths.
    static func listing(_ query: [String: String], origin: String) -> JSONDocument {
        guard let text = query["bookId"], let id = Int(text) else { return refusal(illegalRequest) }
        guard let book = DemoBook.withID(text) else { return refusal(unknownBook, bookId: id) }
        return ServedCatalog.page(query, of: Array(1...book.sections), bookID: .init(id), atMost: pageLimit) {
            element(book, $0, origin)
        }
    }

    /// What the book is called, who wrote and read it. Flat, as the listing is.
    static func detail(_ query: [String: String]) -> JSONDocument {
        guard let text = query["id"], Int(text) != nil else { return refusal(illegalRequest) }
        guard let book = DemoBook.withID(text) else { return refusal(unknownBook) }
        return [
            "announcer": .string(book.announcer), "author": .string(book.author), "cover": .null,
            "desc": .string(book.summary), "id": .init(book.id), "msg": .null, "name": .string(book.name),
            "sections": .init(book.sections), "status": .integer(0),
        ]
    }

    static let notFound: JSONDocument = ["msg": "404 Not Found", "status": .integer(404)]
    static let methodNotAllowed: JSONDocument = ["msg": "405 Method Not Allowed", "status": .integer(405)]

    private static func refusal(_ why: (status: Int, message: String), bookId: Int = 0) -> JSONDocument {
        [
            "bookId": .init(bookId), "list": [], "msg": .string(why.message), "sections": .integer(0),
            "status": .init(why.status), "userType": .integer(0),
        ]
    }

    private static func element(_ book: DemoBook, _ section: Int, _ origin: String) -> JSONDocument {
        let audio = DemoAudio(book: book, section: section)
        let price = JSONDocument.number(book.isLocked(section) ? 0.2 : 0)
        let payment = JSONDocument.integer(book.isLocked(section) ? 1 : 0)
        let path = book.withEmptyPath.contains(section) ? "" : origin + book.audioPath(section)
        return [
            "buy": .integer(0), "downPrice": price, "feeType": payment, "hasLyric": .integer(0),
            "id": .init(book.firstID + section - 1), "lastModify": .integer(lastModified),
            "length": .init(Int(audio.duration.rounded())), "listenPrice": price,
            "name": .string(book.episodeName(section)),
            "path": book.withoutPath.contains(section) ? .null : .string(path), "payType": payment,
            "plays": .init(21120 / section), "section": .init(section),
            "size": .init(audio.length + (book.staleBytes[section] ?? 0)), "state": .integer(0), "strategy": payment,
        ]
    }
}
