import BookSync
import Logging

/// Everything that requests are answered with.
struct ShelfSite: Sendable {
    let shelf: ServedShelf
    /// Empty, or with a slash in front and none at its end.
    let basePath: String
    /// The server's own address as clients know it, base path included; nil for what each of them says.
    let publicURL: String?
    let hosts: HostRule
    let access: AccessKeeper
    /// nil where there are none for people.
    let pages: ShelfPages?
    let actions: ShelfActions
    let live: LiveShelf
    let logger: Logger
}
