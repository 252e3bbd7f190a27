import BookModel
import BookSync

extension ShelfPages {
    private struct EpisodePageView: ViewModel {
        var rowID: String
        var source: String
        var book: String
        var id: String
        var name: String
        var bookTitle: String
        var bookPage: String
        var cover: String
        var state: String
        var stateLabel: String
        var bar: BarView?
        var moving: String
        var error: String?
        var facts: [FactView]
        var player: PlayView?
        var media: String?
        var actions: [ActionView]
        var marks: ActionsView
        var previous: String?
        var next: String?
        var hasChapters: Bool
        var chapters: [ChapterView]
    }

    private struct ChapterView: ViewModel {
        /// Seconds.
        var from: Double
        var time: String
        var title: String
    }

    /// One episode, and the way to those beside it that can be heard; the player asks it for them.
    /// - Returns: nil when nothing on the shelf has this name.
    func episodePage(_ request: Request, name: String, id: String, source: String) async throws -> Page? {
        let phrases = phrases(for: request)
        let found = try await request.shelf.read { shelf -> Found? in
            guard let (episode, book) = try await shelf.episode(name, in: id, of: source) else { return nil }
            let identity = episode.shelved.episode.identity
            let (before, after) = try await shelf.neighbours(of: identity)
            return Found(
                episode: episode, book: book, before: before, after: after,
                position: try await shelf.positions(of: identity.book)[identity],
                speed: try await shelf.speed(of: identity.book),
                chapters: try await shelf.chapters(of: episode.shelved), isRunUnderWay: shelf.isRunUnderWay)
        }
        guard let found = found ?? nil else { return nil }
        let (shelved, book) = (found.episode.shelved, found.book)
        let maker = maker(for: request, isRunUnderWay: found.isRunUnderWay)
        let row = maker.row(found.episode, of: book, position: found.position)
        let view = EpisodePageView(
            rowID: row.rowID, source: row.source, book: row.book, id: row.id, name: row.name, bookTitle: book.title,
            bookPage: row.bookPage, cover: request.routes.cover(book.identity), state: row.state,
            stateLabel: row.stateLabel,
            bar: row.bar, moving: row.moving, error: row.error,
            facts: facts(of: shelved, heard: row.heard, phrases),
            player: shelved.file.flatMap { file in
                row.player.map { _ in
                    maker.play(
                        shelved.episode, file, of: book, at: found.position, speed: found.speed,
                        label: found.position?.isFinished == false ? .playOn : .playFromStart)
                }
            }, media: row.media, actions: row.actions,
            marks: ActionsView(
                actions: maker.marks(
                    "episode", row.rowID, of: row.name, isPlayed: found.position?.isFinished == true,
                    isBegun: found.position != nil)),
            previous: found.before.map(request.routes.episode), next: found.after.map(request.routes.episode),
            hasChapters: row.player != nil && !found.chapters.isEmpty,
            chapters: found.chapters.map {
                ChapterView(from: $0.start, time: phrases.clock($0.start), title: $0.title ?? "")
            })
        return try page(
            .episodes, named: "\(row.name) · \(book.title)", view, with: "episode", for: request, section: .shelf)
    }

    private struct Found: Sendable {
        var episode: ShelfReader.EpisodeOnDisk
        var book: Book
        var before: EpisodeIdentity?
        var after: EpisodeIdentity?
        var position: ListeningPosition?
        var speed: Double?
        var chapters: [MediaInfo.Chapter]
        var isRunUnderWay: Bool
    }

    private func facts(of shelved: EpisodeRecord, heard: String?, _ phrases: Strings) -> [FactView] {
        let size = shelved.file?.size ?? shelved.transfer?.total ?? shelved.episode.size
        let attempts = shelved.transfer?.attempts ?? 0
        let facts: [(Phrase, String?)] = [
            (.factNumber, phrases.number(shelved.episode.section)),
            (.factLength, [shelved.duration.map(phrases.clock), heard].compactMap(\.self).joined(separator: " · ")),
            (.factBytes, size.map(phrases.bytes)),
            (.factPublished, shelved.episode.publishedAt.map(phrases.day)),
            (.factFetched, (shelved.file?.fetchedAt).map(phrases.time)),
            (.factAttempts, attempts > 0 ? phrases.number(attempts) : nil),
            (.factFile, shelved.file?.path),
        ]
        return facts.compactMap { label, value in
            guard let value, !value.isEmpty else { return nil }
            return FactView(label: phrases(label), value: value)
        }
    }
}
