import BookModel
import BookSync
import Crypto
import Foundation
import Hummingbird
import Logging
import Synchronization

/// Finds out who asks, lets people in by their password, and keeps what that takes: keys, sessions, the throttle.
package final class AccessKeeper: Sendable {
    /// How a try to log in ended.
    enum Login: Sendable {
        /// The cookies to set.
        case right([String])
        case wrong
        /// Too many were tried; seconds.
        case later(Int)
    }

    /// By what people and programs are let in.
    private struct Credentials: Sendable {
        let asksWhoComes: Bool
        let token: Secret?
        let check: PasswordCheck?
        /// Of what logs in: sessions of another password are none.
        let fingerprint: [UInt8]

        init(_ settings: ServeSettings) {
            asksWhoComes = settings.asksWhoComes
            token = settings.token
            check = settings.password.map { PasswordCheck($0) }
            let proved = settings.password?.secretText ?? settings.token?.secretText ?? ""
            fingerprint = Array(SHA256.hash(data: Array(proved.utf8)))
        }
    }

    let keyring: ServeKeyring
    private let held: Mutex<Credentials>
    private let changedSettings: @Sendable () async -> ServeSettings?
    private let lookedAt = Mutex(ContinuousClock.now)
    private let throttle = Mutex(LoginThrottle())
    private let start = ContinuousClock.now

    /// - Parameters:
    ///   - library: absolute path of its folder.
    ///   - changed: the settings, where they changed since they were last asked for; asked once a second at most.
    package init(
        _ settings: ServeSettings, library: String, logger: Logger,
        changed: @escaping @Sendable () async -> ServeSettings?
    ) {
        held = Mutex(Credentials(settings))
        changedSettings = changed
        keyring = ServeKeyring(library: library, logger: logger)
    }

    private var credentials: Credentials { held.withLock { $0 } }

    /// Whether anybody has to prove who they are.
    var asksWhoComes: Bool { credentials.asksWhoComes }

    /// A password and a token that were changed count a second later, for sessions too.
    private func lookForChanges() async {
        let isTime = lookedAt.withLock { last in
            let isTime = last.duration(to: .now) >= .seconds(1)
            if isTime { last = .now }
            return isTime
        }
        guard isTime, let changed = await changedSettings() else { return }
        held.withLock { $0 = Credentials(changed) }
    }

    // MARK: What a request proves

    /// - Parameter appsKey: of its path.
    func proof(of request: Request, seenAs view: ClientView, appsKey: String?) async -> RequestProof {
        await lookForChanges()
        var proof = RequestProof()
        proof.origin = RequestOrigin(
            origins: request.fields("Origin"), sites: request.fields("Sec-Fetch-Site"), own: view.origins)
        if let token = credentials.token, let brought = request.bearer {
            proof.hasToken = Session.isSame(brought, token.secretText)
        }
        proof.hasSession = await session(of: request, seenAs: view) != nil
        if let appsKey { proof.hasAppsKey = Session.isSame(appsKey, await keyring.keys().apps) }
        return proof
    }

    /// - Returns: nil where there is none, it has expired, or it was logged out of.
    func session(of request: Request, seenAs view: ClientView) async -> Session? {
        let credentials = credentials
        guard credentials.asksWhoComes, request.mayHaveCookies else { return nil }
        let keys = await keyring.keys()
        return request.cookies(view.cookieName(Self.sessionName(keys))).lazy
            .compactMap { Session(cookie: $0, signedWith: keys, for: credentials.fingerprint, now: Self.now) }.first
    }

    /// What the forms of this browser have to carry.
    func formToken(for request: Request, seenAs view: ClientView) async -> String {
        let session = await session(of: request, seenAs: view)
        return Session.formToken(of: session, signedWith: await keyring.keys())
    }

    // MARK: Login

    /// - Parameters:
    ///   - password: where there is none, the token does.
    ///   - client: the numeric address; nil at a Unix socket.
    func logIn(with password: String, _ request: Request, seenAs view: ClientView, client: String?) async throws
        -> Login
    {
        let (keys, credentials) = (await keyring.keys(), credentials)
        let browser = request.cookies(view.cookieName(Self.browserName(keys))).lazy
            .compactMap { Session.browser($0, signedWith: keys) }.first
        let who = LoginThrottle.Client(network: NumericAddress(client ?? "")?.network ?? "socket", browser: browser)
        let time = start.duration(to: .now)
        if case .wait(let seconds) = throttle.withLock({ $0.ask(who, at: Double(time.components.seconds)) }) {
            return .later(seconds)
        }
        // Only those who may try come so far, so that nobody fills the queue who may not.
        if let check = credentials.check {
            guard check.enter() else { return .later(2) }
            guard try await check.matches(password) else { return .wrong }
        } else {
            guard let token = credentials.token, Session.isSame(password, token.secretText) else { return .wrong }
        }
        throttle.withLock { $0.succeeded(who) }
        let session = Session.begin(now: Self.now)
        let name = browser ?? ServeKeys.base64URL(ServeKeys.random(16))
        return .right([
            view.cookie(
                Self.sessionName(keys), session.cookie(signedWith: keys, for: credentials.fingerprint),
                seconds: Session.lifetime),
            view.cookie(
                Self.browserName(keys), Session.browserCookie(name, signedWith: keys), seconds: 365 * 86_400),
        ])
    }

    /// Ends the session, here and in the browser.
    /// - Returns: the cookie to set.
    func logOut(_ request: Request, seenAs view: ClientView) async -> String {
        if let session = await session(of: request, seenAs: view) {
            await keyring.change { $0.end(session.identity, until: session.expiry, now: Self.now) }
        }
        return view.cookie(Self.sessionName(await keyring.keys()), "", seconds: 0)
    }

    // MARK: Names

    private static func sessionName(_ keys: ServeKeys) -> String { "booksync-" + Session.name(of: keys) }
    private static func browserName(_ keys: ServeKeys) -> String { "booksync-known-" + Session.name(of: keys) }

    /// Seconds since 1970.
    private static var now: Int64 { Int64(Date.now.timeIntervalSince1970) }
}

extension Request {
    /// The values of a field that Hummingbird has no name for.
    fileprivate func fields(_ name: String) -> [String] {
        HTTPFields.Element.Name(name).map { headers[values: $0] } ?? []
    }

    /// RFC 6750 §2.1; nil where there is none, or several.
    fileprivate var bearer: String? {
        let all = headers[values: .authorization]
        guard all.count == 1, let space = all[0].firstIndex(of: " "), all[0][..<space].lowercased() == "bearer" else {
            return nil
        }
        return String(all[0][space...].drop { $0 == " " })
    }

    fileprivate var mayHaveCookies: Bool { headers[values: .cookie].contains { $0.contains("booksync-") } }

    /// The values that the cookie of a name has; browsers may send several.
    fileprivate func cookies(_ name: String) -> [String] {
        headers[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair in
            let text = pair.drop { $0 == " " }
            return text.hasPrefix(name + "=") ? String(text.dropFirst(name.count + 1)) : nil
        }
    }
}
