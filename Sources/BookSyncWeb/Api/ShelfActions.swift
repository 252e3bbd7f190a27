import BookModel
import BookSync
import CatalogStore
import Foundation
import Logging
import Settings
import Transport

/// Does what one client asks for: transfers and files by hand, subscriptions, runs, and what they listen to.
struct ShelfActions: Sendable {
    /// As the client's user sees it.
    let shelf: ServedShelf
    let desk: RunQueue
    /// What the client listens with, as its user knows it.
    let device: String?

    private var configuration: Configuration { shelf.configuration }

    /// - Returns: `{"count": N}`, and perhaps more: how many episodes, books or subscriptions it was done to; of a preview
    ///   what the catalog lists.
    /// - Throws: ``Failure``: `usage` for wrong arguments, `unknownBook` for what is not on the shelf.
    func perform(_ action: ShelfAction, _ arguments: ActionArguments) async throws -> JSONDocument {
        try arguments.require(action)
        return try await inLibrary(of: arguments, action).performHere(action, arguments)
    }

    /// Does it in the library of what is named.
    private func performHere(_ action: ShelfAction, _ arguments: ActionArguments) async throws -> JSONDocument {
        switch action {
        case .fetch: return try await fetch(arguments)
        case .pause:
            return try await control(arguments) { own, scope in
                try await TransferControl.open(in: own.configuration.library) { try await $0.pause(scope) }
            }
        case .resume: return try await control(arguments) { try await $0.desk.resume($1) }
        case .cancel: return try await control(arguments) { try await $0.desk.cancel($1) }
        case .remove:
            guard arguments.forget else {
                return try await control(arguments, all: .everything) { try await $0.desk.remove($1).episodes }
            }
            return try await control(arguments, all: .everything) { own, scope in
                try await TransferControl.open(in: own.configuration.library) { try await $0.forgetRemovals(scope) }
            }
        case .subscribe: return try await subscribe(arguments)
        case .unsubscribe: return try await unsubscribe(arguments)
        case .position: return try await setPosition(arguments)
        case .mark, .bookmark, .removeBookmark, .speed, .dismiss: return try await listen(action, arguments)
        case .mirror:
            let stored = try await shelf.subscriptions()
            var failure: (any Error)?
            // One library that is not there keeps no other from being mirrored.
            for desk in shelf.desks { do { try await desk.mirror() } catch { failure = failure ?? error } }
            if let failure { throw failure }
            return ["count": .init(try configuration.allSubscriptions(with: stored).count)]
        case .follow:
            let imported = try await follow(arguments)
            let (subscribed, already) = imported.counts
            return [
                "count": .init(subscribed), "already": .init(already), "refused": .init(imported.failures.count),
                "failures": .array(imported.failures.map { .string($0.description) }),
            ]
        case .preview:
            return JSONDocument(try await desk.previews.preview(try BookReference(parsing: arguments.refs[0])).preview)
        }
    }

    // MARK: Libraries

    private func on(_ shelf: ServedShelf) -> ShelfActions {
        ShelfActions(shelf: shelf, desk: shelf.desk ?? desk, device: device)
    }

    /// The same for the library that has what is named; what none has goes to the one for new books.
    /// - Throws: ``Failure`` of kind `usage` where several libraries have it.
    private func inLibrary(of arguments: ActionArguments, _ action: ShelfAction) async throws -> ShelfActions {
        guard shelf.hasSeveralLibraries, action != .preview else { return self }
        let bringsNew = action == .fetch || action == .subscribe
        var found: [ServedShelf] = []
        for text in arguments.refs {
            found.append(try await shelf.having(try BookReference(parsing: text), bringsNew: bringsNew))
        }
        for name in arguments.episodes + [arguments.position?.name].compactMap(\.self) {
            found.append(try await shelf.having(name.book, of: name.source))
        }
        let places = Set(found.map(\.place))
        guard places.count < 2 else {
            throw Failure(
                .usage, what: "the request names books of \(places.count) libraries",
                why: "they are \(places.map(\.name).sorted().joined(separator: ", "))",
                remedy: "send one request for each of them")
        }
        return found.first.map(on) ?? self
    }

    // MARK: Transfers

    private func named(_ names: [ActionArguments.Name]) async throws -> [EpisodeRecord] {
        try await shelf.episodes(named: names.map { ($0.source, $0.book, $0.episode) })
    }

    private func fetch(_ arguments: ActionArguments) async throws -> JSONDocument {
        let references = try arguments.refs.map(BookReference.init(parsing:))
        let recognised = try await configuration.recognising(references, logger: desk.logger)
        var items: [RunRequest.Item] = []
        for reference in references {
            let book = try await shelf.book(reference, of: recognised)
            try recognised.requireKnownSource(of: book)
            var filter = reference.filter
            if filter.isEmpty { filter.latest = arguments.latest }
            items.append(RunRequest.Item(book: book, filter: filter))
        }
        let episodes = try await named(arguments.episodes)
        for shelved in episodes { try recognised.requireKnownSource(of: shelved.episode.identity.book) }
        items += RunRequest.Item.items(of: episodes)
        // What cannot be said in one run is wrong of the client, and better told now.
        let request = try RunRequest(items: items)
        try await desk.fetch(request.items, force: arguments.force)
        return ["count": .init(references.count + episodes.count)]
    }

    private func control(
        _ arguments: ActionArguments, all everything: TransferControl.Scope = .queue(of: nil),
        _ action: (ShelfActions, TransferControl.Scope) async throws -> Int
    ) async throws -> JSONDocument {
        guard !arguments.all || !arguments.refs.isEmpty else {
            return ["count": .init(try await controlAll(everything, action))]
        }
        var books: [(book: BookIdentity, filter: EpisodeFilter)] = []
        for text in arguments.refs {
            let reference = try BookReference(parsing: text)
            books.append((try await shelf.book(reference, of: configuration), reference.filter))
        }
        if arguments.all {
            guard books.allSatisfy(\.filter.isEmpty) else {
                throw ActionArguments.refusal("it is about 'all' and about some")
            }
            return ["count": .init(try await action(self, .queue(of: books.map(\.book))))]
        }
        // Found before anything is done, so that all is done or nothing.
        let episodes = try await named(arguments.episodes).map(\.episode.identity)
        var count = 0
        if !books.isEmpty { count += try await action(self, .books(books)) }
        if !episodes.isEmpty { count += try await action(self, .episodes(episodes)) }
        return ["count": .init(count)]
    }

    private func controlAll(
        _ everything: TransferControl.Scope, _ action: (ShelfActions, TransferControl.Scope) async throws -> Int
    ) async throws -> Int {
        var count = 0
        for shelf in shelf.all {
            // Of several libraries those that were never begun have nothing to act on.
            if shelf.hasSeveralLibraries, try await shelf.read({ _ in true }) == nil { continue }
            count += try await action(on(shelf), everything)
        }
        return count
    }

    // MARK: Subscriptions

    private func subscribe(_ arguments: ActionArguments) async throws -> JSONDocument {
        let references = try arguments.refs.map(BookReference.init(parsing:))
        let recognised = try await configuration.recognising(references, logger: desk.logger)
        let stored = try await shelf.read { try await $0.subscriptions() } ?? []
        var subscriptions: [Subscription] = []
        for reference in references {
            let book = try await shelf.book(reference, of: recognised)
            try recognised.requireKnownSource(of: book)
            let address = try reference.address.flatMap { try recognised.addressToRecord(of: book, at: $0) }
            var filter = reference.filter
            if filter.isEmpty { filter.latest = arguments.latest }
            subscriptions.append(
                Subscription(
                    book: book, address: address, title: arguments.title, filter: filter,
                    // It cannot be said here, and to lose it would rename files.
                    naming: stored.first { $0.book == book }?.naming, subscribedAt: .now))
        }
        let wanted = subscriptions
        try await withHTTPTransport(options: recognised.transportOptions, logger: desk.logger) { transport in
            for subscription in wanted { try recognised.requireMeaning(of: subscription, over: transport) }
        }
        try await SubscriptionBook.open(of: recognised, knownLibraries: desk.knownLibraries) { subscribed in
            for subscription in wanted { _ = try await subscribed.subscribe(subscription) }
        }
        // The books of a list come with the next mirror run.
        try await desk.list(
            wanted.filter { !$0.book.isCollection }.map { RunRequest.Item(book: $0.book, filter: $0.filter) })
        return [
            "count": .init(wanted.count), "subscriptions": .array(wanted.map { JSONDocument($0) }),
        ]
    }

    /// Follows the feeds of a list.
    func follow(_ arguments: ActionArguments) async throws -> SubscriptionImport {
        try arguments.require(.follow)
        return try await SubscriptionImport(
            Array((arguments.outline ?? "").utf8), from: "the list", configuration: configuration,
            knownLibraries: desk.knownLibraries)
    }

    private func unsubscribe(_ arguments: ActionArguments) async throws -> JSONDocument {
        let configured = try configuration.allSubscriptions(with: []).map(\.book)
        var books: [BookIdentity] = []
        for text in arguments.refs {
            let book = try await shelf.book(try BookReference(parsing: text), of: configuration)
            if configured.contains(book) {
                throw Failure(
                    .configuration, what: "\(book) cannot be unsubscribed", why: "the configuration subscribes to it",
                    remedy: "take it out of the configuration file")
            }
            books.append(book)
        }
        let wanted = books
        let stored = try await shelf.read { try await $0.subscriptions().map(\.book) } ?? []
        if let unknown = wanted.first(where: { !stored.contains($0) }) {
            throw Failure(
                .unknownBook, what: "\(unknown) cannot be unsubscribed",
                why: "nothing is subscribed under that name", remedy: "booksync subscriptions lists what is")
        }
        try await SubscriptionBook.open(of: configuration, knownLibraries: desk.knownLibraries) { subscribed in
            for book in wanted { _ = try await subscribed.unsubscribe(book) }
        }
        return ["count": .init(wanted.count)]
    }

    // MARK: Listening

    private func setPosition(_ arguments: ActionArguments) async throws -> JSONDocument {
        guard let position = arguments.position else { throw ActionArguments.refusal("there is no 'position'") }
        guard let shelved = try await named([position.name]).first else { return ["count": .integer(0)] }
        let reached = ListeningPosition(
            episode: shelved.episode.identity, seconds: position.seconds, duration: position.duration,
            isFinished: position.isFinished ?? false, updatedAt: Date(), device: device)
        let outcome = try await shelf.write { try await $0.setPosition(reached, of: $1, after: position.revision) }
        return ["count": .init(outcome.isRecorded ? 1 : 0), "position": JSONDocument(outcome.position)]
    }

    private func listen(_ action: ShelfAction, _ arguments: ActionArguments) async throws -> JSONDocument {
        switch action {
        case .bookmark:
            guard let position = arguments.position, let shelved = try await named([position.name]).first else { break }
            let bookmark = Bookmark(
                id: 0, episode: shelved.episode.identity, seconds: position.seconds, note: arguments.note ?? "",
                createdAt: Date())
            return ["count": .integer(1), "number": .integer(try await shelf.add(bookmark))]
        case .removeBookmark:
            let number = Int64(arguments.number ?? 0)
            // Where one library is served it says nothing, and is to be a name all the same.
            for text in arguments.refs { _ = try BookReference(parsing: text) }
            return ["count": .init(try await shelf.write { try await $0.removeBookmark(number, of: $1) } ? 1 : 0)]
        case .mark, .speed, .dismiss:
            let episode = try await named(arguments.episodes).first?.episode.identity
            let book: BookIdentity? =
                if let reference = arguments.refs.first { try await book(named: reference) } else { episode?.book }
            guard let book else { break }
            if let speed = arguments.speed {
                try await shelf.write { try await $0.setSpeed(speed, of: book, for: $1) }
            } else if let isPlayed = arguments.played {
                let part = episode.map { arguments.upTo ? MarkedPart.upTo($0) : .episode($0) } ?? .whole
                let count = try await shelf.write {
                    try await $0.mark(part, of: book, asPlayed: isPlayed, for: $1, at: Date())
                }
                return ["count": .init(count)]
            } else {
                try await shelf.write { try await $0.dismiss(book, for: $1, at: Date()) }
            }
            return ["count": .integer(1)]
        default: break
        }
        return ["count": .integer(0)]
    }

    /// A book that the client sees.
    private func book(named reference: String) async throws -> BookIdentity {
        let book = try await shelf.book(try BookReference(parsing: reference), of: configuration)
        guard let known = try await shelf.book(book.id, of: book.source) else { throw Failure.notOnTheShelf(book) }
        return known
    }
}
