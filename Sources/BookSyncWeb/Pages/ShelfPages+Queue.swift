import BookModel
import BookSync
import ShelfQueries
import ShelfService

extension ShelfPages {
    private struct QueueView: ViewModel {
        var sum: String
        var actions: [ActionView]
        var caption: String
        var hasBooks = true
        var hasRows: Bool
        var rows: [EpisodeView]
        var pager: PagerView?
    }

    private static let transfersOnPage = 100

    /// What is being fetched, waits, is paused or failed.
    func queuePage(_ request: Request) async throws -> Page {
        let phrases = phrases(for: request)
        let found = try await shelf(for: request).read { shelf in
            let counts = try await shelf.queueCounts()
            let part = PagePart(
                request.query["page"], of: counts.values.reduce(0, +), size: Self.transfersOnPage)
            let shown = try await shelf.queue(from: part.first, count: part.size)
            let identities = Set(shown.map(\.shelved.episode.identity.book)).sorted()
            let books = Dictionary(
                try await shelf.books(identities).map { ($0.book.identity, $0.book) },
                uniquingKeysWith: { first, _ in first })
            return (shown: shown, books: books, counts: counts, part: part, isRunUnderWay: shelf.isRunUnderWay)
        }
        let maker = maker(for: request, isRunUnderWay: found?.isRunUnderWay ?? false)
        let counts = found?.counts ?? [:]
        let underWay = counts[.downloading, default: 0] + counts[.verifying, default: 0]
        let sum: [(Int, Phrase)] = [
            (underWay, .underWayCount), (counts[.waiting, default: 0], .waitingCount),
            (counts[.paused, default: 0], .pausedCount), (counts[.failed, default: 0], .failedCount),
        ]
        let rows = (found?.shown ?? []).compactMap { episode in
            found?.books[episode.shelved.episode.identity.book].map { maker.row(episode, of: $0) }
        }
        var actions: [ActionView] = []
        func button(_ action: String, _ label: Phrase) -> ActionView {
            maker.button(action, label, field: "all", value: "true", of: phrases(.queue))
        }
        if request.visitor.mayChange {
            if underWay + counts[.waiting, default: 0] > 0 { actions.append(button("pause", .pauseAll)) }
            let left = found?.isRunUnderWay == true ? 0 : counts[.waiting, default: 0]
            if counts[.paused, default: 0] + counts[.failed, default: 0] + left > 0 {
                actions.append(button("resume", .resumeAll))
            }
        }
        let view = QueueView(
            sum: sum.filter { $0.0 > 0 }.map { phrases($0.1, count: $0.0) }.joined(separator: " · "), actions: actions,
            caption: phrases(.queue), hasRows: !rows.isEmpty, rows: rows,
            pager: found?.part.pager(phrases) { "\(request.routes.root)/queue?page=\($0)" })
        return try page(.queue, view, with: "queue", for: request, section: .queue, isRenewed: true)
    }
}
