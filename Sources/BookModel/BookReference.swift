/// A REF as the user writes it: `ID`, `SOURCE:ID` or an address, optionally with the episodes meant:
/// `REF/12`, `REF/12-40,55`, `REF/latest:5`; behind an address, which has slashes of its own, `URL#12`.
package struct BookReference: Sendable, Hashable, CustomStringConvertible {
    package enum Target: Sendable, Hashable {
        /// An id in the default source.
        case id(String)
        case book(BookIdentity)
        /// A feed, an archive item page, a directory index: recognised from the answer.
        case address(ResourceAddress)
    }

    package let target: Target
    package let filter: EpisodeFilter

    /// - Throws: ``Failure`` of kind `usage` when the text names nothing.
    package init(parsing text: String) throws {
        guard !text.isEmpty else {
            throw Failure(
                .usage, what: "an empty REF names no book", why: "a book is an ID, SOURCE:ID or an address",
                remedy: "write for example 30776 or kting:30776/12-40")
        }
        if text.contains("://") {
            let (text, filter) = try Self.cutFilter(from: text)
            // `feeds:https://example.org/feed.xml` names a book whose id is an address.
            let source = text.prefix { $0 != ":" }
            let rest = text.dropFirst(source.count + 1)
            if rest.hasPrefix("//") || source.contains("/") {
                self.target = .address(try Self.address(text, scheme: source, rest: rest))
            } else {
                self.target = .book(BookIdentity(source: String(source), id: String(rest)))
            }
            self.filter = filter
            return
        }
        if let colon = text.firstIndex(of: ":") {
            // A list of books has no episodes, and may have slashes.
            let named = BookIdentity(source: String(text[..<colon]), id: String(text[text.index(after: colon)...]))
            if named.isCollection, !named.source.isEmpty {
                (self.target, self.filter) = (.book(named), EpisodeFilter())
                return
            }
        }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        if let colon = name.firstIndex(of: ":") {
            let source = String(name[..<colon])
            let id = String(name[name.index(after: colon)...])
            guard !source.isEmpty, !id.isEmpty else {
                throw Failure(
                    .usage, what: "'\(text)' names no book", why: "one side of the colon is empty",
                    remedy: "write SOURCE:ID, as in kting:30776")
            }
            self.target = .book(BookIdentity(source: source, id: id))
        } else {
            guard !name.isEmpty else {
                throw Failure(
                    .usage, what: "'\(text)' names no book", why: "there is nothing before the slash",
                    remedy: "write ID/12 or SOURCE:ID/12-40")
            }
            self.target = .id(name)
        }
        let filter = Result { parts.count == 2 ? try Self.filter(parsing: String(parts[1])) : EpisodeFilter() }
        if case .failure = filter, Self.isMeantAsAddress(name) { throw Self.withoutScheme(text) }
        self.filter = try filter.get()
    }

    /// As podcast pages write addresses of feeds for the apps that are to open them.
    private static let schemesOfApps: Set<String> = ["feed", "pcast", "podcast", "itpc", "rss"]

    private static func address(_ text: String, scheme: Substring, rest: Substring) throws -> ResourceAddress {
        let scheme = scheme.lowercased()
        if schemesOfApps.contains(scheme) { return ResourceAddress("http:\(rest)") }
        guard scheme == "http" || scheme == "https" else {
            throw noAddress(text, remedy: "write the address as a browser shows it")
        }
        return ResourceAddress(text)
    }

    /// What is no title, and no id where no source has one.
    package static func noBook(called text: String) -> Failure {
        guard !isMeantAsAddress(text) else { return withoutScheme(text) }
        return Failure(
            .unknownBook, what: "no book matches '\(text)'", why: "nothing in the library has that title or id",
            remedy: "booksync list lists what there is, booksync find finds other books")
    }

    private static func isMeantAsAddress(_ text: String) -> Bool {
        text.contains(".") && !text.hasPrefix(".") && !text.contains(where: \.isWhitespace)
    }

    private static func withoutScheme(_ text: String) -> Failure {
        noAddress(text, remedy: "write https://\(ResourceAddress(text))")
    }

    private static func noAddress(_ text: String, remedy: Message) -> Failure {
        Failure(
            .usage, what: "'\(ResourceAddress(text))' names no book",
            why: "the address of a catalog begins with https:// or http://", remedy: remedy)
    }

    /// The address without the episodes behind its last `#`. Any other fragment stays: it is the address's own. So does the
    /// hash of up to eight hexadecimal digits, behind which an address without its secrets is a book's id.
    private static func cutFilter(from text: String) throws -> (address: String, filter: EpisodeFilter) {
        guard let mark = text.lastIndex(of: "#") else { return (text, EpisodeFilter()) }
        let fragment = String(text[text.index(after: mark)...])
        let isFilter = fragment.hasPrefix("latest:") || fragment.allSatisfy { "0123456789,- ".contains($0) }
        let isHash = fragment.count > 6 && fragment.allSatisfy(\.isHexDigit)
        let isMasked = text[..<mark].contains("***") && !text[..<mark].contains("#")
        guard !fragment.isEmpty, isFilter, !isHash, !isMasked else { return (text, EpisodeFilter()) }
        return (String(text[..<mark]), try filter(parsing: fragment))
    }

    private static func filter(parsing text: String) throws -> EpisodeFilter {
        guard text.hasPrefix("latest:") else { return EpisodeFilter(only: try SectionRanges(parsing: text)) }
        let digits = text.dropFirst("latest:".count)
        guard digits.allSatisfy(\.isWholeNumber), let count = Int(digits), count > 0 else {
            throw Failure(
                .usage, what: "'\(text)' does not name episodes", why: "latest: takes a number from 1 on",
                remedy: "write for example latest:5")
        }
        return EpisodeFilter(latest: count)
    }

    package var description: String {
        switch target {
        case .id(let id): id
        case .book(let book): book.description
        case .address(let address): address.description
        }
    }

    /// The REF of episodes: `kting:30776/12`, `feed:https://example.org/feed.xml#12`.
    ///
    /// - Parameters:
    ///   - part: a section's number, or ``SectionRanges``.
    ///   - book: a ``BookIdentity``, or a REF as the user wrote it.
    package static func example(_ part: some CustomStringConvertible, of book: some CustomStringConvertible) -> String {
        let book = "\(book)"
        return "\(book)\(book.contains("://") ? "#" : "/")\(part)"
    }
}
