import BookModel
import BookSync

extension ViewMaker {
    /// A bookmark, with what plays from there.
    func bookmark(_ marked: ShelfReader.BookmarkedEpisode, of book: Book, speed: Double?) -> any Sendable {
        let (bookmark, episode) = (marked.bookmark, marked.shelved.episode)
        let time = phrases.clock(bookmark.seconds)
        let player = (marked.shelved.removedAt == nil ? marked.shelved.file : nil).map {
            var player = play(episode, $0, of: book, at: nil, speed: speed)
            // From there, wherever one stopped.
            (player.at, player.isExact) = (Int(bookmark.seconds), true)
            player.spoken = phrases(.playFrom, ["time": time, "name": episode.name])
            return player
        }
        // Each library has its own numbers.
        let library = FieldView(name: "ref", value: book.identity.pathReference)
        let remove = button(
            "remove-bookmark", .removeBookmark, field: "number", value: "\(bookmark.id)",
            of: "\(time), \(episode.name)", kind: "quiet", hidden: [library])
        return (
            time: time, note: bookmark.note.isEmpty ? nil : bookmark.note, name: episode.name,
            page: routes.page(of: episode.identity), player: player, actions: visitor.keepsPositions ? [remove] : []
        )
    }
}
