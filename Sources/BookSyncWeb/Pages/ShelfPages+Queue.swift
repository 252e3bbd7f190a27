import BookModel
import BookSync

extension ShelfPages {
    private static let transfersOnPage = 100

    /// What is being fetched, waits, is paused or failed.
    func queuePage(_ request: Request) async throws -> Page {
        let phrases = phrases(for: request)
        let states = try await request.shelf.answers { shelf in
            (
                counts: try await shelf.queueCounts(), requests: try await shelf.requests(),
                isRunUnderWay: shelf.isRunUnderWay
            )
        }
        let totals = states.answers.map { $0.value?.counts.values.reduce(0, +) ?? 0 }
        let part = PagePart(request.query["page"], of: totals.reduce(0, +), size: Self.transfersOnPage)
        var (rows, counts, left) = ([EpisodeView](), [EpisodeState: Int](), 0)
        let ranges = librariesParts(of: totals, from: part.first, count: part.size)
        for ((place, state), range) in zip(states.answers, ranges) {
            let isRunUnderWay = state?.isRunUnderWay ?? false
            counts.merge(state?.counts ?? [:], uniquingKeysWith: +)
            if !isRunUnderWay { left += state?.counts[.waiting] ?? 0 }
            guard !range.isEmpty else { continue }
            let found = try await request.shelf.shelf(at: place).read { shelf in
                let shown = try await shelf.queue(from: range.lowerBound, count: range.count)
                let books = Set(shown.map(\.shelved.episode.identity.book)).sorted()
                return (shown: shown, books: try await shelf.books(among: books).map(\.book))
            }
            let books = Dictionary(
                (found?.books ?? []).map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first })
            let maker = maker(for: request, isRunUnderWay: isRunUnderWay)
            rows += (found?.shown ?? []).compactMap { episode in
                books[episode.shelved.episode.identity.book].map { maker.row(episode, of: $0) }
            }
        }
        let underWay = counts[.downloading, default: 0]
        let sum: [(Int, Phrase)] = [
            (underWay, .underWayCount), (counts[.waiting, default: 0], .waitingCount),
            (counts[.paused, default: 0], .pausedCount), (counts[.failed, default: 0], .failedCount),
        ]
        var actions: [ActionView] = []
        func button(_ action: String, _ label: Phrase) -> ActionView {
            maker(for: request).button(action, label, field: "all", value: "true", of: phrases(.queue))
        }
        if request.visitor.mayChange {
            if underWay + counts[.waiting, default: 0] > 0 { actions.append(button("pause", .pauseAll)) }
            if counts[.paused, default: 0] + counts[.failed, default: 0] + left > 0 {
                actions.append(button("resume", .resumeAll))
            }
        }
        let view = (
            sum: sum.filter { $0.0 > 0 }.map { phrases($0.1, count: $0.0) }.joined(separator: " · "),
            asked: states.answers.flatMap { $0.value?.requests ?? [] }.summary.map { phrases($0) }, actions: actions,
            caption: phrases(.queue), hasBooks: true, rows: rows,
            pager: part.pager(phrases) { "\(request.routes.root)/queue?page=\($0)" }
        )
        return try page(
            .queue, view, with: "queue", for: request, section: .queue, isRenewed: true, unanswered: states.failures)
    }
}
