import BookModel
import BookSync
import CatalogStore

extension ShelfPages {
    /// One episode, and the way to those beside it that can be heard; the player asks it for them.
    /// - Returns: nil when nothing on the shelf has this name.
    func episodePage(_ request: Request, name: String, id: String, source: String) async throws -> Page? {
        let phrases = phrases(for: request)
        let found = try await request.shelf.read { shelf -> (row: EpisodeView, view: any Sendable)? in
            guard let (episode, book) = try await shelf.episode(name, in: id, of: source) else { return nil }
            let identity = episode.shelved.episode.identity
            let (before, after) = try await shelf.store.neighbours(of: identity)
            let position = try await shelf.store.positions(of: identity.book, for: shelf.user.id)[identity]
            let speed = try await shelf.store.speed(of: identity.book, for: shelf.user.id)
            let chapters = try await shelf.chapters(of: episode.shelved)
            let maker = maker(for: request, isRunUnderWay: shelf.isRunUnderWay)
            let row = maker.row(
                episode, of: book, position: position, speed: speed,
                label: position?.isFinished == false ? .playOn : .playFromStart)
            let marks = maker.marks(
                "episode", row.rowID, of: row.name, isPlayed: position?.isFinished == true, isBegun: position != nil)
            let view = (
                row: row, cover: request.routes.cover(of: book.identity),
                facts: facts(of: episode.shelved, heard: row.heard, phrases), marks: ["actions": marks],
                previous: before.map(request.routes.page(of:)), next: after.map(request.routes.page(of:)),
                // Only the player can go to a chapter.
                chapters: row.player == nil
                    ? []
                    : chapters.map { (from: $0.start, time: phrases.clock($0.start), title: $0.title ?? "") }
            )
            return (row, view)
        }
        guard let (row, view) = found else { return nil }
        return try page(
            .episodes, named: "\(row.name) · \(row.bookTitle)", view, with: "episode", for: request, section: .shelf)
    }

    private func facts(of shelved: EpisodeRecord, heard: String?, _ phrases: Strings) -> [(
        label: String, value: String
    )] {
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
            return (label: phrases(label), value: value)
        }
    }
}
