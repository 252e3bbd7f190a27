import BookModel
import BookSync

extension ShelfPages {
    private static let runs = 50
    /// Of each run.
    private static let namedBooks = 5

    /// The last runs, the newest first.
    func runsPage(_ request: Request) async throws -> Page {
        let phrases = phrases(for: request)
        let (runs, unanswered) = try await request.shelf.runs(last: Self.runs)
        let view = ["runs": runs.reversed().map { Self.view($0, phrases, request.routes) }]
        return try page(.runs, view, with: "runs", for: request, section: .runs, unanswered: unanswered)
    }

    private static func view(_ run: ShownRun, _ phrases: Strings, _ routes: ShelfAddresses) -> Any {
        let (record, summary) = (run.record, run.record.summary)
        let (state, label): (String, Phrase) =
            switch run.state {
            case .ended where record.exitCode == 0: ("finished", .runEnded)
            // The exit code of a process that a signal ended: a run that somebody stopped.
            case .ended where record.exitCode.map { $0 > 128 } == true: ("paused", .runStopped)
            case .ended: ("failed", .runFailed)
            case .underWay: ("downloading", .runUnderWay)
            case .cutOff: ("paused", .runCutOff)
            }
        let deed: Phrase =
            switch record.command {
            case "mirror": .runMirror
            case "join": .runJoin
            default: .runFetch
            }
        var what = [phrases(deed)]
        let counts: [(Int, Phrase)] = [
            (summary.fetched, .runFetched), (summary.resumed, .runResumed), (summary.failed, .runFailedEpisodes),
            (summary.left, .runLeft),
        ]
        var came = counts.filter { $0.0 > 0 }.map { phrases($0.1, count: $0.0) }
        let isNothing = came.isEmpty
        if summary.bytesReceived > 0 { came.append(phrases.bytes(summary.bytesReceived)) }
        // What comes of a run is recorded at its end.
        if record.endedAt != nil {
            if isNothing { came.insert(phrases(.runNothing), at: 0) }
            came.append(phrases.span(summary.seconds))
        }
        what.append(phrases(.countBooks, count: record.books))
        what += [run.library].compactMap(\.self)
        let named = record.named.prefix(namedBooks)
        let more = record.books - named.count
        return (
            state: state, stateLabel: phrases(label), when: phrases.time(record.startedAt),
            what: what.joined(separator: " · "),
            books: named.map { (page: routes.page(of: $0.book), title: $0.title ?? $0.book.description) },
            // How many books are not named.
            more: named.isEmpty || more < 1 ? nil : phrases(.countMore, count: more),
            came: came.joined(separator: " · "), error: record.error.map { phrases($0) }
        )
    }
}
