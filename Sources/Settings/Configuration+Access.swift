import BookModel
import CatalogFetcher
import Transport

// Which servers are told what, and how they are reached.

extension Configuration {
    /// What lets the user in at the servers of a book's source, and how these are reached.
    package func access(of book: BookIdentity) -> SourceAccess {
        let source = source(named: book.source) ?? SourceConfiguration(name: book.source, kind: .feed)
        let isNamed = book.id.contains("://")
        let named = isNamed ? [ResourceAddress(book.id), recordedAddress(of: book)].compactMap(\.self) : []
        let given = givenAddresses.filter { source.ownAddresses.isEmpty && self.book(at: $0) == book }
        let own = source.ownAddresses.isEmpty ? given + named : source.ownAddresses
        // The id of a book may be the very address that the user gave.
        // A subscription that names no book is not this book's.
        let subscribed = subscriptions.first { !$0.headers.isEmpty && (try? self.book($0.reference)) == book }
        return access(
            of: source, at: own, named: isNamed ? named : own, with: subscribed?.headers ?? [])
    }

    /// The same for an address of which nobody knows yet what it is: that of the source on its server, if there is one.
    package func access(at address: ResourceAddress) -> SourceAccess {
        let server = WebOrigin(address)
        let subscribed = subscriptions.first { $0.reference.address == address }?.headers ?? []
        let source = sources.values.sorted { $0.name < $1.name }
            .first { $0.ownAddresses.contains { WebOrigin($0) == server } }
        guard let source, source.unsetVariables.isEmpty, source.faults.isEmpty else {
            // It may belong to any source whose books are named by their own addresses.
            let owners = source.map { [$0] } ?? sources.values.filter(\.ownAddresses.isEmpty)
            let own = Set([server].compactMap(\.self))
            // Most are feeds: they are asked as those of the source that they would belong to.
            let name = self.source(for: .feed, at: address)
            let feeds = owners.first { $0.name == name && $0.unsetVariables.isEmpty && $0.faults.isEmpty }
            let headers = subscribed + (feeds?.headers ?? [])
            var credentials = SourceCredentials(origins: own, netrc: netrc)
            credentials.headers = Self.secretHeaders(headers)
            return SourceAccess(
                credentials: credentials,
                privateAddresses: owners.contains(where: \.allowsPrivateAddresses)
                    ? .allowed : .ownOnly(privateOrigins(among: own)),
                headers: Self.openHeaders(headers))
        }
        return access(of: source, at: source.ownAddresses, named: [address], with: subscribed)
    }

    /// The same for a source as a whole.
    /// - Parameter address: one that the user named beside the source's own.
    package func access(to source: SourceConfiguration, naming address: ResourceAddress? = nil) -> SourceAccess {
        access(of: source, at: source.ownAddresses, named: source.ownAddresses + [address].compactMap(\.self))
    }

    /// - Parameters:
    ///   - addresses: where its credentials go.
    ///   - named: the addresses that the user named: where these are private, so may be others.
    ///   - headers: which count more than those of the source.
    private func access(
        of source: SourceConfiguration, at addresses: [ResourceAddress], named: [ResourceAddress],
        with headers: [SourceConfiguration.Field] = []
    ) -> SourceAccess {
        var users: [WebOrigin: Authorization] = [:]
        for address in addresses {
            guard let origin = WebOrigin(address), users[origin] == nil else { continue }
            users[origin] = Authorization(userOf: address)
        }
        var credentials = SourceCredentials(
            origins: Set(addresses.compactMap(WebOrigin.init)), authorization: source.authorization, users: users,
            cookies: source.cookies?.content, netrc: netrc)
        credentials.headers = Self.secretHeaders(headers + source.headers)
        return SourceAccess(
            proxy: source.proxy,
            authorities: source.authorities.map { $0.content.adding(authorities?.content) },
            credentials: credentials,
            privateAddresses: source.allowsPrivateAddresses
                ? .allowed : .ownOnly(privateOrigins(among: Set(named.compactMap(WebOrigin.init)))),
            downgrade: source.downgrade, headers: Self.openHeaders(headers + source.headers))
    }

    /// Those that may let somebody in: for the source's own servers.
    private static func secretHeaders(_ fields: [SourceConfiguration.Field]) -> [String: Secret] {
        let secret = fields.filter(Masking.isSecret(header:))
        return Dictionary(secret.map { ($0.name, $0.value) }) { first, _ in first }
    }

    /// The others: for every server.
    private static func openHeaders(_ fields: [SourceConfiguration.Field]) -> [(name: String, value: String)] {
        fields.filter { !Masking.isSecret(header: $0) }.map { ($0.name, $0.value.secretText) }
    }

    /// Whether the mirror of a server leaves a book alone that a stored subscription names: its address says by itself that it
    /// is private, and a client of the server may have named it.
    private func isRefusedByServer(_ book: BookIdentity) -> Bool {
        var served = self
        served.trustsReferences = false
        let address = recordedAddress(of: book) ?? ResourceAddress(book.id)
        guard book.id.contains("://"), address.isPlainlyPrivate, let server = WebOrigin(address),
            case .ownOnly(let servers) = served.access(of: book).privateAddresses
        else { return false }
        return !servers.contains(server)
    }

    /// The rule for followed books whose addresses are private; nil where none is, or all are configured.
    package func privacyNotice(of books: [BookIdentity]) -> Message? {
        let refused = books.filter(isRefusedByServer)
        guard !refused.isEmpty else { return nil }
        return
            "on this machine or in a private network: \(refused.map(\.description).joined(separator: ", ")); booksync mirror "
            + "fetches such books, the mirror of booksync serve only where the configuration names them"
    }

    /// Those of the named servers that may be private ones.
    private func privateOrigins(among named: Set<WebOrigin>) -> Set<WebOrigin> {
        if trustsReferences { return named }
        let configured = sources.values.flatMap(\.ownAddresses) + subscribedAddresses
        return named.intersection(configured.compactMap(WebOrigin.init))
    }
}
