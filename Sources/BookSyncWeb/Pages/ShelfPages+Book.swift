import BookModel
import BookSync
import CatalogStore
import Foundation
import LibraryFiles
import Settings

extension ShelfPages {
    private static let rowsOnPage = 100
    /// Episodes that are seen at a glance.
    private static let fewEpisodes = 12

    /// What is looked for in a book.
    private struct Search: Sendable {
        var selection: EpisodeSelection
        /// The number of the episode that is looked for; nil where none is.
        var section: Int?
        var text: String

        init(_ query: [String: String]) {
            text = (query["find"] ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
            section = Int(text)
            selection = EpisodeSelection(
                state: query["state"].flatMap(EpisodeState.init(rawValue:)), text: section == nil ? text : "",
                isReversed: query["order"] == "last")
        }

        /// Of an address.
        var query: [(name: String, value: String)] {
            var query: [(name: String, value: String)] = []
            if let state = selection.state { query.append(("state", state.rawValue)) }
            if !selection.text.isEmpty { query.append(("find", selection.text)) }
            if selection.isReversed { query.append(("order", "last")) }
            return query
        }
    }

    /// A book with some of its episodes: where no page is named, those where the user is, or the one looked for.
    /// - Returns: nil when nothing on the shelf has this name.
    func bookPage(_ request: Request, id: String, source: String) async throws -> Page? {
        let found = try await request.shelf.read(id, of: source) { try await bookView(of: $1, request, $0) }
        guard let (view, shelved, maker) = found else { return nil }
        let joined = try await self.joined(shelved, request, maker)
        let fields = templateFields(of: view).merging(["joined": joined as Any]) { $1 }
        return try page(.shelf, named: shelved.book.title, fields, with: "book", for: request, section: .shelf)
    }

    private func bookView(
        of identity: BookIdentity, _ request: Request, _ shelf: ShelfReader
    ) async throws -> (view: any Sendable, shelved: BookSummary, maker: ViewMaker)? {
        let positions = try await shelf.store.positions(of: identity, for: shelf.user.id)
        let start = try await Self.start(of: identity, positions, shelf)
        let found = try await Self.find(Search(request.query), in: identity, start, page: request.query["page"], shelf)
        guard let (episodes, part, search) = found else { return nil }
        let (shelved, speed) = (episodes.book, try await shelf.store.speed(of: identity, for: shelf.user.id))
        let progress = try await shelf.store.listeningProgress(of: [identity], for: shelf.user.id)[identity]
        let bookmarks = try await shelf.bookmarkedEpisodes(of: identity)
        let nextBook = try await shelf.nextBook(after: identity)
        let maker = maker(for: request, isRunUnderWay: episodes.isRunUnderWay)
        let (phrases, index) = (maker.phrases, request.routes.page(of: identity))
        func address(_ change: (inout Search) -> Void, page: Int? = nil) -> String {
            var other = search
            change(&other)
            let query = other.query + (page.map { [("page", String($0))] } ?? [])
            return index + (query.isEmpty ? "" : "?")
                + query.map { "\($0.name)=\(ClientView.encoded($0.value))" }.joined(separator: "&")
        }
        let marks = maker.marks(
            "ref", identity.pathReference, of: shelved.book.title,
            isPlayed: progress.map { $0.played >= $0.episodes } ?? false, isBegun: progress != nil)
        let view = (
            title: shelved.book.title, people: maker.people(of: shelved.book), summary: shelved.book.summary,
            cover: request.routes.cover(of: identity), feed: request.apps.feed(of: identity),
            facts: maker.facts(
                of: shelved, progress, in: request.shelf.hasSeveralLibraries ? request.shelf.place.name : nil),
            present: shelved.present, episodes: max(1, shelved.episodes), spoken: maker.card(shelved).spoken,
            player: start.map { start in
                maker.play(
                    start.episode, start.file, of: shelved.book, at: start.position, speed: speed,
                    label: start.position?.isFinished == false ? .playOn : .playFromStart)
            }, actions: maker.actions(on: shelved, episodes.counts),
            filters: filters(episodes.named, phrases, current: search.selection.state) { state in
                address { $0.selection.state = state }
            },
            // Where the episodes are looked through, by a number or a part of a name and in two orders; nil for a book that is
            // seen at a glance.
            finding: shelved.episodes <= Self.fewEpisodes
                ? nil
                : (
                    page: index, text: search.text, isReversed: search.selection.isReversed,
                    sorts: [(false, Phrase.sortFirstEpisode), (true, .sortLastEpisode)].map { isReversed, label in
                        ChoiceView(
                            href: address { $0.selection.isReversed = isReversed }, label: phrases(label), count: nil,
                            isCurrent: isReversed == search.selection.isReversed)
                    }
                ),
            pager: part.pager(phrases) { address({ _ in }, page: $0) }, caption: shelved.book.title,
            rows: episodes.episodes.map { episode in
                var row = maker.row(
                    episode, of: shelved.book, position: positions[episode.shelved.episode.identity],
                    speed: speed)
                row.isSought = episode.shelved.episode.section == search.section
                return row
            }, marks: ["actions": marks],
            bookmarks: bookmarks.map { maker.bookmark($0, of: shelved.book, speed: speed) },
            // Of the author, that there is something to hear of.
            nextBook: nextBook.map { (page: request.routes.page(of: $0.identity), title: $0.title) }
        )
        return (view, shelved, maker)
    }

    /// The book as one file, or as several.
    /// - Returns: nil where nothing can be joined.
    private func joined(_ shelved: BookSummary, _ request: Request, _ maker: ViewMaker) async throws -> Any? {
        let (book, phrases) = (shelved.book, maker.phrases)
        guard request.visitor.mayChange, shelved.present > 0, let desk = request.shelf.desk, let joins = desk.joins
        else {
            return nil
        }
        guard let (files, isUpToDate) = try await request.shelf.read({ try await joins.existing(of: book, on: $0) })
        else {
            return nil
        }
        let isJoining = try await desk.isJoining(book.identity)
        let links = files.map { index, file in
            let (name, root) = (book.identity.pathName, request.root)
            let ending = file.path.split(separator: ".").last ?? "m4b"
            return ChoiceView(
                href: "\(root)/joined/\(name)/\(index).\(ending)", label: "\(splitLibraryPath(file.path).name)",
                count: phrases.bytes(file.size), isCurrent: false)
        }
        let percent = Int(joins.progress(of: book.identity) * 100)
        let status =
            isJoining
            ? phrases(.joining, ["percent": phrases(.percent, ["number": "\(percent)"])])
            : phrases(files.isEmpty ? .notJoined : isUpToDate ? .joinUpToDate : .joinOutdated)
        let failure = isJoining || isUpToDate ? nil : await desk.joinFailure(of: book.identity)
        // What is missing would be missing in the file.
        let reference = book.identity.pathReference
        let join = maker.button("join", .join, field: "book", value: reference, of: book.title)
        let cancel = maker.button("cancel", .cancel, field: "ref", value: reference, of: book.title, kind: "quiet")
        return (
            status: status, isUnderWay: isJoining,
            // Why it was not made.
            failure: failure.map { phrases($0.message) }, files: links,
            actions: isJoining ? [cancel] : isUpToDate || shelved.missing > 0 ? [] : [join]
        )
    }

    /// The part of a book to show, with what is looked for after a number that no episode has became a part of a name.
    private static func find(
        _ search: Search, in book: BookIdentity, _ start: Start?, page wanted: String?, _ shelf: ShelfReader
    ) async throws -> (episodes: EpisodePage, part: PagePart, search: Search)? {
        var search = search
        var index: Int?
        if let section = search.section {
            index = try await shelf.store.index(of: section, in: book, isReversed: search.selection.isReversed)
            // No episode has the number; a name may have it.
            if index == nil { (search.section, search.selection.text) = (nil, search.text) }
        } else if wanted == nil, search.selection == EpisodeSelection(), let start, start.isBegun {
            index = try await shelf.store.index(of: start.episode.section, in: book, isReversed: false)
        }
        let selection = search.selection
        var first = (min(max(1, wanted.flatMap { Int($0) } ?? 1), 1_000_000) - 1) * rowsOnPage
        if wanted == nil, selection.state == nil, let index { first = index }
        func episodes(from first: Int) async throws -> EpisodePage? {
            try await shelf.page(of: book, selection, from: first / rowsOnPage * rowsOnPage, count: rowsOnPage)
        }
        guard var found = try await episodes(from: first) else { return nil }
        let total = selection.state.map { found.named[$0, default: 0] } ?? found.named.values.reduce(0, +)
        let part = PagePart(String(first / rowsOnPage + 1), of: total, size: rowsOnPage)
        if found.episodes.isEmpty, first > 0 { found = try await episodes(from: part.first) ?? found }
        return (found, part, search)
    }

    /// Where listening begins, or goes on.
    private struct Start: Sendable {
        var episode: Episode
        var file: LocalFile
        var position: ListeningPosition?
        /// Whether anything of the book was listened to.
        var isBegun: Bool
    }

    private static func start(
        of book: BookIdentity, _ positions: [EpisodeIdentity: ListeningPosition], _ shelf: ShelfReader
    ) async throws -> Start? {
        var identity = try await shelf.store.firstOnDisk(of: book)
        let last = positions.values.max { $0.updatedAt < $1.updatedAt }
        if let last { identity = try await shelf.continuation(of: last) ?? identity }
        guard let identity, let episode = try await shelf.episode(identity)?.episode,
            let file = episode.shelved.file, episode.shelved.removedAt == nil
        else { return nil }
        return Start(
            episode: episode.shelved.episode, file: file, position: positions[identity], isBegun: last != nil)
    }

    /// All, and each state that an episode is in.
    private func filters(
        _ counts: [EpisodeState: Int], _ phrases: Strings, current: EpisodeState?, _ address: (EpisodeState?) -> String
    ) -> [ChoiceView] {
        let order: [EpisodeState] = [
            .finished, .waiting, .downloading, .paused, .failed, .cancelled, .locked, .removed, .gone,
        ]
        let all = ChoiceView(
            href: address(nil), label: phrases(.all), count: phrases.number(counts.values.reduce(0, +)),
            isCurrent: current == nil)
        return [all]
            + order.filter { counts[$0, default: 0] > 0 || $0 == current }.map { state in
                ChoiceView(
                    href: address(state),
                    label: state == .waiting ? phrases(.stateToCome) : phrases(named: "state.\(state.rawValue)"),
                    count: phrases.number(counts[state, default: 0]), isCurrent: current == state)
            }
    }
}
