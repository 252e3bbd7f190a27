import BookModel
import BookSync
import Logging

/// Everything that requests are answered with.
struct ServerContext: Sendable {
    let shelf: ServedShelf
    /// Empty, or with a slash in front and none at its end.
    let basePath: String
    /// The server's own address as clients know it, base path included; nil for what each of them says.
    let publicURL: String?
    let hosts: HostRule
    /// Whether the server itself speaks TLS.
    let isSecure: Bool
    let access: Authenticator
    /// nil where there are none for people.
    let pages: ShelfPages?
    let live: LiveShelf
    let logger: Logger

    /// Where a client that calls the server by a name finds everything.
    func root(of authority: String) -> String {
        publicURL ?? "\(isSecure ? "https" : "http")://\(authority)\(basePath)"
    }

    /// Whether somebody may change anything but what they listen to.
    func mayChange(_ user: User) -> Bool { shelf.desk != nil && !user.isLimited }
}
