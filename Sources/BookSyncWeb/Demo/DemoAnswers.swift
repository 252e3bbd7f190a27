import Foundation

/// The demo catalog's answers in the wire format of the book-resource API: keys sorted, slashes escaped, null written
/// out, as recorded from the real servers.
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
    static func listing(_ query: [String: String], origin: String) throws -> Data {
        guard let text = query["bookId"], let id = Int(text) else { return try refusal(illegalRequest) }
        guard let book = DemoBook.withID(text) else { return try refusal(unknownBook, bookId: id) }
        let size = min(max(1, query["pageSize"].flatMap { Int($0) } ?? pageLimit), pageLimit)
        let page = max(1, query["pageNum"].flatMap { Int($0) } ?? 1)
        var sections = Array(1...book.sections)
        if query["sortType"] == "1" { sections.reverse() }
        // A page number near Int.max must not overflow.
        let pages = (sections.count + size - 1) / size
        let shown = page > pages ? [] : sections[((page - 1) * size)..<min(page * size, sections.count)]
        return try encoded(
            Listing(bookId: id, list: shown.map { Element(book, $0, origin) }, sections: book.sections))
    }

    /// What the book is called, who wrote and read it. Flat, as the listing is.
    static func detail(_ query: [String: String]) throws -> Data {
        guard let text = query["id"], Int(text) != nil else { return try refusal(illegalRequest) }
        guard let book = DemoBook.withID(text) else { return try refusal(unknownBook) }
        return try encoded(Detail(book: book))
    }

    static let notFound = Data("{\"msg\":\"404 Not Found\",\"status\":404}".utf8)
    static let methodNotAllowed = Data("{\"msg\":\"405 Method Not Allowed\",\"status\":405}".utf8)

    private static func refusal(_ why: (status: Int, message: String), bookId: Int = 0) throws -> Data {
        try encoded(Listing(bookId: bookId, list: [], msg: why.message, sections: 0, status: why.status))
    }

    private static func encoded(_ answer: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(answer)
    }

    private struct Listing: Encodable {
        var bookId: Int
        var list: [Element]
        var msg: String?
        var sections: Int
        var status = 0

        enum CodingKeys: CodingKey { case bookId, list, msg, sections, status, userType }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(bookId, forKey: .bookId)
            try container.encode(list, forKey: .list)
            try container.encode(msg, forKey: .msg)
            try container.encode(sections, forKey: .sections)
            try container.encode(status, forKey: .status)
            try container.encode(0, forKey: .userType)
        }
    }

    private struct Element: Encodable {
        let book: DemoBook
        let section: Int
        let origin: String

        init(_ book: DemoBook, _ section: Int, _ origin: String) {
            self.book = book
            self.section = section
            self.origin = origin
        }

        private var path: String? {
            if book.withoutPath.contains(section) { return nil }
            return book.withEmptyPath.contains(section) ? "" : origin + book.audioPath(section)
        }

        enum CodingKeys: CodingKey {
            case buy, downPrice, feeType, hasLyric, id, lastModify, length, listenPrice, name, path, payType, plays
            case section, size, state, strategy
        }

        func encode(to encoder: any Encoder) throws {
            let audio = DemoAudio(book: book, section: section)
            let isLocked = book.isLocked(section)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(0, forKey: .buy)
            try container.encode(isLocked ? 0.2 : 0, forKey: .downPrice)
            try container.encode(isLocked ? 1 : 0, forKey: .feeType)
            try container.encode(0, forKey: .hasLyric)
            try container.encode(book.firstID + section - 1, forKey: .id)
            try container.encode(lastModified, forKey: .lastModify)
            try container.encode(Int(audio.duration.rounded()), forKey: .length)
            try container.encode(isLocked ? 0.2 : 0, forKey: .listenPrice)
            try container.encode(book.episodeName(section), forKey: .name)
            try container.encode(path, forKey: .path)
            try container.encode(isLocked ? 1 : 0, forKey: .payType)
            try container.encode(21120 / section, forKey: .plays)
            try container.encode(section, forKey: .section)
            try container.encode(audio.length + (book.staleBytes[section] ?? 0), forKey: .size)
            try container.encode(0, forKey: .state)
            try container.encode(isLocked ? 1 : 0, forKey: .strategy)
        }
    }

    private struct Detail: Encodable {
        let book: DemoBook

        enum CodingKeys: CodingKey { case announcer, author, cover, desc, id, msg, name, sections, status }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(book.announcer, forKey: .announcer)
            try container.encode(book.author, forKey: .author)
            try container.encodeNil(forKey: .cover)
            try container.encode(book.summary, forKey: .desc)
            try container.encode(book.id, forKey: .id)
            try container.encodeNil(forKey: .msg)
            try container.encode(book.name, forKey: .name)
            try container.encode(book.sections, forKey: .sections)
            try container.encode(0, forKey: .status)
        }
    }
}
