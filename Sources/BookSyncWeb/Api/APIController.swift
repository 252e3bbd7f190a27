import BookModel
import BookSync
import Settings

/// The web API: the documents that the command line prints with `--json`, word for word.
///
/// A query has the options of the command, by their names; one that has no such value is a ``Failure`` of kind `usage`.
struct APIController: Sendable {
    let shelf: ServedShelf

    func queue() async throws -> JSONDocument {
        let episodes = try await shelf.wholeList { try await $0.queue() }
        return .array(episodes.map { JSONDocument($0) })
    }

    func subscriptions() async throws -> JSONDocument {
        let stored = try await shelf.subscriptions()
        let subscriptions = try shelf.configuration.allSubscriptions(with: stored)
        return .array(try await subscriptions.withAddresses(in: shelf.configuration.libraries).map { JSONDocument($0) })
    }

    func runs(_ query: [String: String]) async throws -> JSONDocument {
        let count = try query.number("last", from: 1) ?? 20
        let (runs, unanswered) = try await shelf.runs(last: count)
        if let (_, failure) = unanswered.first { throw failure }
        return .array(runs.map { JSONDocument($0) })
    }

    func bookmarks(of book: BookIdentity) async throws -> JSONDocument {
        let found = try await shelf.read { try await $0.bookmarkedEpisodes(of: book) } ?? []
        return .array(found.map { JSONDocument($0.bookmark) })
    }

    func book(_ book: BookIdentity) async throws -> JSONDocument? {
        let found = try await shelf.read { try await $0.books([book]) } ?? []
        return shelf.named(found).first.map { JSONDocument(everythingOf: $0) }
    }

    func books(_ query: [String: String]) async throws -> JSONDocument {
        let state = try query.choice("state", EpisodeState.allCases)
        let sort = try query.choice("sort", ShelfOrder.ofBooks)
        var books = try await shelf.wholeList { shelf -> [BookSummary] in
            if let state { try await shelf.books(withEpisodesIn: state) } else { try await shelf.books() }
        }
        if shelf.hasSeveralLibraries { books.sort { $0.book.identity < $1.book.identity } }
        if try query.has("missing") { books = books.filter { $0.missing > 0 } }
        if let sort { books = books.sorted(by: sort) }
        if try query.has("reverse") { books.reverse() }
        return .array(books.map { JSONDocument($0) })
    }

    func episodes(of book: BookIdentity, _ query: [String: String]) async throws -> JSONDocument {
        let state = try query.choice("state", EpisodeState.allCases)
        let sort = try query.choice("sort", ShelfOrder.ofEpisodes)
        var episodes = shelf.named(
            try await shelf.read { try await $0.episodes(of: book, filter: EpisodeFilter()) } ?? [])
        if let state { episodes = episodes.filter { $0.shelved.state == state } }
        if try query.has("missing") { episodes = episodes.filter(\.isMissing) }
        if let sort { episodes = episodes.sorted(by: sort) }
        if try query.has("reverse") { episodes.reverse() }
        return .array(episodes.map { JSONDocument($0) })
    }

    /// - Parameter section: a number; several episodes may have it.
    func episodes(_ section: String, of book: BookIdentity) async throws -> JSONDocument? {
        guard section.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let filter = EpisodeFilter(only: try SectionRanges(parsing: section))
        let found = try await shelf.read { try await $0.episodesInFull(of: book, filter: filter) } ?? []
        let documents = shelf.named(found).map { JSONDocument(everythingOf: $0) }
        return documents.count > 1 ? .array(documents) : documents.first
    }

    func search(_ query: [String: String]) async throws -> JSONDocument {
        let text = query["q"] ?? ""
        let limit = try query.number("limit", from: 0) ?? 50
        let wanted = limit == 0 ? nil : limit
        let found = try await shelf.search(for: text, limit: wanted)
        _ = try found.complete()
        return .array(try found.best(for: text, limit: wanted).items.map { JSONDocument($0) })
    }
}

extension [String: String] {
    /// Whether a flag is set: `?missing`, `?missing=1`.
    fileprivate func has(_ flag: String) throws -> Bool {
        switch self[flag] {
        case nil, "0", "false": return false
        case "", "1", "true": return true
        default: throw refusal(flag, "it is one of true, false, 1, 0")
        }
    }

    private static let maxNumber = Int(Int32.max)

    fileprivate func choice<Choice: RawRepresentable<String>>(_ key: String, _ choices: [Choice]) throws -> Choice? {
        guard let text = self[key] else { return nil }
        if let choice = choices.first(where: { $0.rawValue == text }) { return choice }
        throw refusal(key, "it is one of \(choices.map(\.rawValue).joined(separator: ", "))")
    }

    fileprivate func number(_ key: String, from least: Int) throws -> Int? {
        guard let text = self[key] else { return nil }
        if let number = Int(text), (least...Self.maxNumber).contains(number) { return number }
        throw refusal(key, "it takes a number from \(least) to \(Self.maxNumber)")
    }

    private func refusal(_ key: String, _ why: Message) -> Failure {
        Failure(.usage, what: "the value of '\(key)' is not valid", why: why)
    }
}
