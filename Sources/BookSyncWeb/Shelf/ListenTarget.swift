import BookModel
import Hummingbird

/// Where the shelf is served: an address, or a socket in the file system.
package enum ListenTarget: Sendable, Hashable, CustomStringConvertible {
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

    /// Whether nobody on another machine reaches it.
    package var isThisMachine: Bool {
        guard case .address(let address) = self else { return true }
        return HostRule.isThisMachine(address.host)
    }

    /// Where nobody who comes has to prove who they are, only this machine may reach the server.
    /// A name of another machine says that a proxy lets others in.
    /// - Parameters:
    ///   - asksWhoComes: whether there is a password, a token or a user.
    ///   - names: that the server answers to.
    /// - Throws: ``Failure`` of kind `usage` when others could.
    package func requireGuard(asksWhoComes: Bool, names: HostRule) throws {
        guard !asksWhoComes, !isThisMachine || !names.names.allSatisfy(HostRule.isThisMachine) else { return }
        throw Failure(
            .usage, disposition: .stop, what: "cannot listen on '\(self)'",
            why: "other machines could reach it, and there is no password to ask them for",
            remedy: "set one with 'booksync serve --set-password', or listen on 127.0.0.1 or [::1] without "
                + "serve.public-url and serve.hosts")
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
