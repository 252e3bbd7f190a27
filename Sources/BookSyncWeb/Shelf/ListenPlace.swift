import BookModel
import Hummingbird

/// Where the shelf is served: an address, or a socket in the file system.
package enum ListenPlace: Sendable, Hashable, CustomStringConvertible {
    case address(ListenAddress)
    /// The path of a Unix socket.
    case socket(String)

    /// Reads `HOST:PORT`, a port alone on the loopback, or `unix:PATH`.
    /// - Throws: ``Failure`` of kind `usage`.
    package init(parsing text: String) throws {
        guard text.hasPrefix("unix:") else {
            self = .address(try ListenAddress(parsing: text))
            return
        }
        let path = String(text.dropFirst("unix:".count))
        guard !path.isEmpty, !path.contains("\0") else {
            throw Failure(
                .usage, disposition: .stop, what: "cannot listen on '\(text)'", why: "there is no path after unix:",
                remedy: "write unix:PATH, as in unix:/run/booksync.sock")
        }
        self = .socket(path)
    }

    /// Nobody who asks is asked for a password, so only this machine may reach the server.
    /// - Throws: ``Failure`` of kind `usage` when others could.
    package func requireThisMachine() throws {
        guard case .address(let address) = self, !HostRule.isThisMachine(address.host) else { return }
        throw Failure(
            .usage, disposition: .stop, what: "cannot listen on '\(address)'",
            why: "other machines could reach it, and the server asks nobody for a password",
            remedy: "listen on 127.0.0.1 or [::1], and let a proxy that asks for one, or ssh -L, bring others there")
    }

    package var description: String {
        switch self {
        case .address(let address): address.description
        case .socket(let path): "unix:" + path
        }
    }

    var bindAddress: BindAddress {
        switch self {
        case .address(let address): .hostname(address.host, port: address.port)
        case .socket(let path): .unixDomainSocket(path: path)
        }
    }
}
