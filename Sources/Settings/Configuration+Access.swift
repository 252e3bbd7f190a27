import BookModel
import CatalogFetcher
import Transport

// Which servers are told what, and how they are reached.

extension Configuration {
    /// What lets the user in at the servers of a book's source, and how these are reached.
    package func access(of book: BookIdentity) -> SourceAccess {
        let source = source(named: book.source) ?? SourceConfiguration(name: book.source, kind: .feed)
        var own = source.ownAddresses
        if own.isEmpty {
            own = givenAddresses.filter { self.book(at: $0) == book }
            if book.id.contains("://") { own.append(ResourceAddress(book.id)) }
        }
        // The id of a book may be the very address that the user gave.
        return access(of: source, at: own, named: book.id.contains("://") ? [ResourceAddress(book.id)] : own)
    }

    /// The same for an address of which nobody knows yet what it is: that of the source on its server, if there is one.
    package func access(at address: ResourceAddress) -> SourceAccess {
        let server = WebOrigin(address)
        let source = sources.values.sorted { $0.name < $1.name }
            .first { $0.ownAddresses.contains { WebOrigin($0) == server } }
        guard let source, source.unsetVariables.isEmpty, source.faults.isEmpty else {
            // It may belong to any source whose books are named by their own addresses.
            let owners = source.map { [$0] } ?? sources.values.filter(\.ownAddresses.isEmpty)
            let own = Set([server].compactMap(\.self))
            return SourceAccess(
                credentials: SourceCredentials(origins: own, netrc: netrc),
                privateAddresses: owners.contains(where: \.allowsPrivateAddresses)
                    ? .allowed : .ownOnly(privateOrigins(among: own)))
        }
        return access(of: source, at: source.ownAddresses, named: [address])
    }

    /// The same for a source as a whole.
    /// - Parameter address: one that the user named beside the source's own.
    package func access(to source: SourceConfiguration, naming address: ResourceAddress? = nil) -> SourceAccess {
        access(of: source, at: source.ownAddresses, named: source.ownAddresses + [address].compactMap(\.self))
    }

    /// - Parameters:
    ///   - addresses: where its credentials go.
    ///   - named: the addresses that the user named: where these are private, so may be others.
    private func access(
        of source: SourceConfiguration, at addresses: [ResourceAddress], named: [ResourceAddress]
    ) -> SourceAccess {
        var users: [WebOrigin: Authorization] = [:]
        for address in addresses {
            guard let origin = WebOrigin(address), users[origin] == nil else { continue }
            users[origin] = Authorization(userOf: address)
        }
        return SourceAccess(
            proxy: source.proxy,
            authorities: source.authorities.map { $0.content.adding(authorities?.content) },
            credentials: SourceCredentials(
                origins: Set(addresses.compactMap(WebOrigin.init)), authorization: source.authorization, users: users,
                cookies: source.cookies?.content, netrc: netrc),
            privateAddresses: source.allowsPrivateAddresses
                ? .allowed : .ownOnly(privateOrigins(among: Set(named.compactMap(WebOrigin.init)))))
    }

    /// Whether the mirror of a server leaves a book alone that a stored subscription names: its address says by itself that it
    /// is private, and a client of the server may have named it.
    package func isRefusedByServer(_ book: BookIdentity) -> Bool {
        var served = self
        served.trustsReferences = false
        let address = ResourceAddress(book.id)
        guard book.id.contains("://"), address.isPlainlyPrivate, let server = WebOrigin(address),
            case .ownOnly(let servers) = served.access(of: book).privateAddresses
        else { return false }
        return !servers.contains(server)
    }

    /// What is to be known of a followed book whose address is private; nil where it is not, or is configured.
    package func privacyNotice(of book: BookIdentity) -> Message? {
        guard isRefusedByServer(book) else { return nil }
        return
            "\(book) is on this machine or in a private network: booksync mirror fetches it, the mirror of booksync serve "
            + "only where the configuration names it"
    }

    /// Those of the named servers that may be private ones.
    private func privateOrigins(among named: Set<WebOrigin>) -> Set<WebOrigin> {
        if trustsReferences { return named }
        let configured = sources.values.flatMap(\.ownAddresses) + subscribedAddresses
        return named.intersection(configured.compactMap(WebOrigin.init))
    }
}
