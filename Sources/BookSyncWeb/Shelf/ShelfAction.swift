import Hummingbird

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

extension ShelfRequest {
    /// The methods by which what is at a path is asked for.
    /// - Parameter parts: of the path, behind the base path.
    static func methods(at parts: [String]) -> [HTTPRequest.Method] {
        switch parts.count {
        case 2 where parts[0] == "actions": [.post]
        case 3 where parts[0] == "api" && parts[1] == "v1" && ShelfAction(rawValue: parts[2]) != nil: [.post]
        default: [.get, .head]
        }
    }
}
