import BookModel
import BookSync

extension ShelfPages {
    private struct BookView: ViewModel {
        var title: String
        var people: String?
        var summary: String?
        var cover: String
        var feed: String
        var facts: [FactView]
        var present: Int
        var episodes: Int
        var spoken: String
        var player: PlayView?
        var actions: [ActionView]
        var filters: [ChoiceView]
        var pager: PagerView?
        var caption: String
        var hasBooks = false
        var hasRows: Bool
        var rows: [EpisodeView]
    }

    private static let rowsOnPage = 100

    /// A book with some of its episodes.
    /// - Returns: nil when nothing on the shelf is called so.
    func bookPage(_ request: Request, id: String, source: String) async throws -> Page? {
        let phrases = phrases(for: request)
        let state = request.query["state"].flatMap(EpisodeState.init(rawValue:))
        let wanted = request.query["page"].flatMap { Int($0) } ?? 1
        let first = (min(max(1, wanted), 1_000_000) - 1) * Self.rowsOnPage
        let found = try await shelf.read { shelf -> FoundBook? in
            guard
                var part = try await shelf.page(of: id, of: source, in: state, from: first, count: Self.rowsOnPage)
            else { return nil }
            if part.episodes.isEmpty, first > 0 {
                let last = PagePart(request.query["page"], of: Self.total(part.counts, state), size: Self.rowsOnPage)
                part =
                    try await shelf.page(of: id, of: source, in: state, from: last.first, count: Self.rowsOnPage)
                    ?? part
            }
            let identity = part.book.book.identity
            return FoundBook(
                part: part, positions: try await shelf.positions(of: identity),
                start: try await Self.start(of: identity, shelf))
        }
        guard let found = found ?? nil else { return nil }
        let (shelved, counts) = (found.part.book, found.part.counts)
        let maker = maker(for: request, isRunUnderWay: found.part.isRunUnderWay)
        let identity = shelved.book.identity
        let part = PagePart(request.query["page"], of: Self.total(counts, state), size: Self.rowsOnPage)
        func address(_ page: Int, _ state: EpisodeState?) -> String {
            let query = (state.map { ["state=\($0.rawValue)"] } ?? []) + (page == 1 ? [] : ["page=\(page)"])
            return request.places.book(identity) + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
        }
        let start = found.start
        let view = BookView(
            title: shelved.book.title, people: maker.people(of: shelved.book), summary: shelved.book.summary,
            cover: request.places.cover(identity), feed: ShelfAddresses(root: request.apps).feed(of: identity),
            facts: maker.facts(of: shelved),
            present: shelved.present, episodes: max(1, shelved.episodes), spoken: maker.card(shelved).spoken,
            player: start.map { start in
                maker.play(
                    start.episode, start.file, of: shelved.book, at: start.position,
                    label: start.position == nil ? .playFromStart : .playOn)
            }, actions: maker.actions(on: shelved, counts),
            filters: filters(counts, phrases, current: state) { address(1, $0) },
            pager: part.pager(phrases) { address($0, state) }, caption: shelved.book.title,
            hasRows: !found.part.episodes.isEmpty,
            rows: found.part.episodes.map {
                maker.row($0, of: shelved.book, position: found.positions[$0.shelved.episode.identity])
            })
        return try page(.shelf, named: shelved.book.title, view, with: "book", for: request, section: .shelf)
    }

    private static func total(_ counts: [EpisodeState: Int], _ state: EpisodeState?) -> Int {
        state.map { counts[$0, default: 0] } ?? counts.values.reduce(0, +)
    }

    private struct FoundBook: Sendable {
        var part: EpisodePage
        var positions: [EpisodeIdentity: ListeningPosition]
        var start: Start?
    }

    /// Where listening begins, or goes on.
    private struct Start: Sendable {
        var episode: Episode
        var file: LocalFile
        var position: ListeningPosition?
    }

    private static func start(of book: BookIdentity, _ shelf: ShelfReader) async throws -> Start? {
        let positions = try await shelf.positions(of: book)
        var identity = try await shelf.firstOnDisk(of: book)
        if let last = positions.values.max(by: { $0.updatedAt < $1.updatedAt }) {
            identity = try await shelf.continuation(of: last) ?? identity
        }
        guard let identity, let episode = try await shelf.episode(identity)?.episode,
            let file = episode.shelved.file, episode.shelved.removedAt == nil
        else { return nil }
        return Start(episode: episode.shelved.episode, file: file, position: positions[identity])
    }

    /// All, and each state that an episode is in.
    private func filters(
        _ counts: [EpisodeState: Int], _ phrases: Phrases, current: EpisodeState?, _ address: (EpisodeState?) -> String
    ) -> [ChoiceView] {
        let order: [(EpisodeState, Phrase)] = [
            (.finished, .stateFinished), (.waiting, .stateToCome), (.downloading, .stateDownloading),
            (.verifying, .stateVerifying), (.paused, .statePaused), (.failed, .stateFailed),
            (.cancelled, .stateCancelled), (.locked, .stateLocked), (.removed, .stateRemoved), (.gone, .stateGone),
        ]
        let all = ChoiceView(
            href: address(nil), label: phrases(.all), count: phrases.number(counts.values.reduce(0, +)),
            isCurrent: current == nil)
        return [all]
            + order.filter { counts[$0.0, default: 0] > 0 || $0.0 == current }.map { state, phrase in
                ChoiceView(
                    href: address(state), label: phrases(phrase), count: phrases.number(counts[state, default: 0]),
                    isCurrent: current == state)
            }
    }
}
