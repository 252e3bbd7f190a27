import BookModel

/// Reads one document of a feed from its bytes as they arrive. What it keeps is what it found, and never the document.
final class FeedReader {
    /// What became of the bytes.
    enum Outcome {
        /// It may be cut: see ``FeedDocument/isWhole``.
        case feed(FeedDocument)
        /// As the middle of a sentence. Nothing that was read was that of a feed.
        case foreign(why: Message, mayBeCut: Bool)
    }

    private static let keptHead = 2000
    /// Bytes in which the root is looked for.
    private static let searchedHead = 16 << 10

    private var decoder: TextDecoder
    private var markup: XMLReader<FeedBuilder>
    private let secrets: SecretMask
    private var head: [UInt8] = []
    /// The first bytes, until there are enough to tell where the feed begins; nil from then on.
    private var beginning: [UInt8]? = []

    /// - Parameters:
    ///   - charset: what the answer declares; nil when nothing does.
    ///   - base: where the document came from; nil when that is not known.
    ///   - secrets: what must not turn up where the document is quoted.
    init(charset: String? = nil, base: String? = nil, secrets: SecretMask = SecretMask([])) {
        self.secrets = secrets
        decoder = TextDecoder(charset: charset)
        markup = XMLReader(FeedBuilder(base: base))
    }

    func consume(_ bytes: UnsafeBufferPointer<UInt8>) {
        if head.count < Self.keptHead { head += bytes.prefix(Self.keptHead - head.count) }
        guard beginning != nil else { return decoder.consume(bytes) { markup.consume($0) } }
        beginning? += bytes
        if beginning?.count ?? 0 >= Self.searchedHead { begin() }
    }

    private func begin() {
        guard let bytes = beginning else { return }
        beginning = nil
        bytes[Self.start(in: bytes)...].withUnsafeBufferPointer { decoder.consume($0) { markup.consume($0) } }
    }

    /// The start of the feed, behind anything that the program printed before it, such as PHP's warnings.
    private static func start(in bytes: [UInt8]) -> Int {
        let text = String(decoding: bytes.prefix(searchedHead).map { $0 < 0x80 ? $0 : 0x3F }, as: UTF8.self)
        guard let root = text.firstMatch(of: #/<(?:\?xml|rss|feed|rdf:rdf)[\s>]/#.ignoresCase())?.startIndex else {
            return 0
        }
        let before = text[..<root].drop { $0.isWhitespace || $0 == "?" }
        // A page, or JSON, may quote one; a comment may be before any.
        let isOther = before.contains(#/^(?:[{\[]|<!)|<(?:!doctype html|html|head|body)\b/#.ignoresCase())
        // A byte order mark that is the very first tells the encoding.
        if isOther || before.isEmpty && bytes[0] >= 0x80 { return 0 }
        return text.utf8.distance(from: text.startIndex, to: root)
    }

    func finish() -> Outcome {
        begin()
        decoder.finish { markup.consume($0) }
        let isWhole = markup.isAtEnd
        markup.finish()
        if markup.handler.isFeed {
            return .feed(markup.handler.finished(isWhole: isWhole, skippedTags: markup.skippedTags))
        }
        return .foreign(why: complaint, mayBeCut: head.isEmpty || markup.handler.root == nil && !isWhole)
    }

    private var complaint: Message {
        let quoted = secrets.quotation(head)
        if quoted.isEmpty { return "the answer is empty" }
        if markup.handler.root == .html || quoted.lowercased().hasPrefix("<!doctype html") {
            return "the answer is an HTML page and no feed: '\(quoted)'"
        }
        return "the answer is neither RSS nor Atom: '\(quoted)'"
    }
}

extension FeedReader {
    /// Reads a whole document.
    static func read(_ bytes: [UInt8], charset: String? = nil, base: String? = nil) -> Outcome {
        let reader = FeedReader(charset: charset, base: base)
        bytes.withUnsafeBufferPointer(reader.consume)
        return reader.finish()
    }

    /// Whether bytes look like the beginning of a feed: an element that only feeds begin with, behind whatever may stand
    /// before it.
    ///
    /// - Parameter head: the first bytes.
    static func recognises(_ head: some Collection<UInt8>) -> Bool {
        let head = Array(head.prefix(searchedHead))
        // Encodings of more than one byte have zeros in between.
        let text = String(decoding: head[start(in: head)...].filter { $0 != 0 && $0 < 0x80 }, as: UTF8.self)
        var rest = text.drop { $0.isWhitespace }
        guard rest.first == "<" else { return false }
        while let opening = rest.firstIndex(of: "<") {
            rest = rest[opening...].dropFirst()
            if rest.hasPrefix("?") {
                rest = rest.firstRange(of: "?>").map { rest[$0.upperBound...] } ?? ""
            } else if rest.hasPrefix("!--") {
                rest = rest.firstRange(of: "-->").map { rest[$0.upperBound...] } ?? ""
            } else if rest.hasPrefix("!") {
                // A DTD's own declarations follow; they begin in the same way.
                rest = rest.dropFirst()
            } else {
                let name = rest.prefix { !$0.isWhitespace && $0 != ">" && $0 != "/" }.lowercased()
                let local = name.split(separator: ":").last.map(String.init) ?? ""
                if local == "rss" || local == "channel" { return true }
                let tag = rest.prefix { $0 != ">" }.lowercased()
                if local == "rdf" { return text.contains("purl.org/rss") || text.contains("netscape.com/rdf") }
                return local == "feed" && (tag.contains("atom") || !tag.contains("xmlns"))
            }
        }
        return false
    }
}
