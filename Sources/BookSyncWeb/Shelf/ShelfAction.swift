/// What a POST can have done, at `/api/v1/NAME`, and by the forms of the pages at `/actions/NAME`.
enum ShelfAction: String, Sendable, CaseIterable {
    case fetch, pause, resume, cancel, remove, subscribe, unsubscribe, mirror, preview
    /// The feeds of an OPML list.
    case follow = "import"
    case position, mark, bookmark, speed, dismiss
    case removeBookmark = "remove-bookmark"

    /// Whether users do it for themselves alone.
    var isOwn: Bool {
        switch self {
        case .position, .mark, .bookmark, .removeBookmark, .speed, .dismiss: true
        case .fetch, .pause, .resume, .cancel, .remove, .subscribe, .unsubscribe, .mirror, .preview, .follow: false
        }
    }
}
