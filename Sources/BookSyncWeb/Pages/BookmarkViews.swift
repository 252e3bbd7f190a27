import BookModel
import BookSync

/// A bookmark, with what plays from there.
struct BookmarkView: ViewModel {
    var time: String
    var note: String?
    var name: String
    var page: String
    var player: PlayView?
    var actions: [ActionView]
}

extension ViewMaker {
    func bookmark(_ marked: ShelfReader.BookmarkedEpisode, of book: Book, speed: Double?) -> BookmarkView {
        let (bookmark, episode) = (marked.bookmark, marked.shelved.episode)
        let time = phrases.clock(bookmark.seconds)
        var view = BookmarkView(
            time: time, note: bookmark.note.isEmpty ? nil : bookmark.note, name: episode.name,
            page: routes.page(of: episode.identity), actions: [])
        view.player = (marked.shelved.removedAt == nil ? marked.shelved.file : nil).map {
            var player = play(episode, $0, of: book, at: nil, speed: speed)
            // From there, wherever one stopped.
            (player.at, player.isExact) = (Int(bookmark.seconds), true)
            player.spoken = phrases(.playFrom, ["time": time, "name": episode.name])
            return player
        }
        if visitor.keepsPositions {
            // Each library has its own numbers.
            let library = FieldView(name: "ref", value: book.identity.pathReference)
            view.actions = [
                button(
                    "remove-bookmark", .removeBookmark, field: "number", value: "\(bookmark.id)",
                    of: "\(time), \(episode.name)", kind: "quiet", hidden: [library])
            ]
        }
        return view
    }
}
