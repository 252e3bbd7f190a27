import BookModel
import NIOHTTP1

/// What lets the user in at the servers of a source, and at no other.
///
/// Everything here belongs to the source's own origins. What a redirect leads to gets nothing once it left the origin
/// that was asked (``HTTPTransport/send(_:)``), even where it leads back there.
package struct SourceCredentials: Sendable, Hashable {
    /// The servers that the source's own addresses name.
    package var origins: Set<WebOrigin>
    /// For all of them.
    package var authorization: Authorization?
    /// Users that addresses of the source have before their hosts, each for that server alone.
    package var users: [WebOrigin: Authorization]
    package var cookies: CookieFile?
    /// Other fields for all of them.
    package var headers: [String: Secret] = [:]
    /// For hosts that have no other authentication. Of a server that is not one of ``origins``, but that the catalog
    /// names, only an entry for that very machine counts, and only over HTTPS: a catalog has no say in where passwords
    /// go in clear.
    package var netrc: Netrc

    package static let none = SourceCredentials(origins: [])

    package init(
        origins: Set<WebOrigin>, authorization: Authorization? = nil, users: [WebOrigin: Authorization] = [:],
        cookies: CookieFile? = nil, netrc: Netrc = .empty
    ) {
        self.origins = origins
        self.authorization = authorization
        self.users = users
        self.cookies = cookies
        self.netrc = netrc
    }

    /// Whether no server is told anything.
    var isEmpty: Bool { authorization == nil && users.isEmpty && cookies == nil && netrc.isEmpty && headers.isEmpty }

    /// The fields that go with a request.
    ///
    /// - Parameters:
    ///   - user: of the address that was asked for first, which counts more than all else.
    ///   - now: seconds since 1970.
    func fields(for target: RequestTarget, user: Authorization?, now: Double) -> HTTPHeaders {
        var fields = HTTPHeaders()
        let origin = WebOrigin(target)
        let isOwn = origins.contains(origin)
        let authorization =
            user ?? (isOwn ? self.authorization ?? users[origin] : nil)
            ?? (isOwn || target.isSecure ? netrc.authorization(for: target.host, orDefault: isOwn) : nil)
        if let authorization { fields.add(name: "Authorization", value: authorization.field) }
        if isOwn, let cookie = cookies?.field(for: target, now: now) { fields.add(name: "Cookie", value: cookie) }
        if isOwn { for (name, value) in headers { fields.replaceOrAdd(name: name, value: value.secretText) } }
        return fields
    }
}

/// Whether a source may list, or redirect to, addresses on this machine or in a private network.
package enum PrivateAddressRule: Sendable, Hashable {
    case allowed
    /// Only to these, which the user named, and to any where all of these are private themselves.
    case ownOnly(Set<WebOrigin>)
}

/// How the servers of a source are reached: which way, whose certificates are good, with which credentials, and whether
/// it may lead to this machine and private networks.
///
/// An object, because thousands of transfers hold the same one.
package final class SourceAccess: Sendable {
    package let proxy: ProxyChoice
    /// Trusted beside those of the machine; nil for what ``TransportOptions/authorities`` says.
    package let authorities: TrustedAuthorities?
    package let credentials: SourceCredentials
    package let privateAddresses: PrivateAddressRule
    package let downgrade: DowngradeRule
    /// Fields that tell no secret, for every server.
    package let headers: [(name: String, value: String)]

    /// As the environment says, with nothing that would let anybody in; for addresses that the user wrote.
    package static let standard = SourceAccess()

    package init(
        proxy: ProxyChoice = .environment, authorities: TrustedAuthorities? = nil,
        credentials: SourceCredentials = .none, privateAddresses: PrivateAddressRule = .allowed,
        downgrade: DowngradeRule = .withoutCredentials, headers: [(name: String, value: String)] = []
    ) {
        self.proxy = proxy
        self.authorities = authorities
        self.credentials = credentials
        self.privateAddresses = privateAddresses
        self.downgrade = downgrade
        self.headers = headers
    }
}
