import BookModel
import BookSync
import Crypto
import Foundation
import Hummingbird
import LibraryFiles
import Logging
import Settings
import Synchronization

/// Finds out who asks, lets people in by their password, and keeps what that takes: keys, sessions, the throttle.
package final class Authenticator: Sendable {
    /// How a try to log in ended.
    package enum Login: Sendable {
        /// The cookies to set.
        case right([String])
        case wrong
        /// Too many were tried; seconds.
        case later(Int)
    }

    /// By what people and programs are let in.
    private struct Credentials: Sendable {
        var token: Secret?
        /// Of the shelf itself.
        var password: PasswordHash?
        /// Of what logs the owner in: sessions of another password are none.
        var fingerprint: [UInt8] = []
        /// nil until they are known.
        private(set) var users: [User]?
        private(set) var isReadable = true
        private var wasGuarded = false

        /// Whether anybody has to prove who they are: also as long as the users are not known. Once it was so it stays, though
        /// the users are gone.
        var asksWhoComes: Bool { users == nil || wasGuarded }

        mutating func take(_ settings: ServeSettings) {
            token = settings.token
            password = settings.password
            fingerprint = Self.fingerprint(settings.password?.secretText ?? settings.token?.secretText ?? "")
            wasGuarded = wasGuarded || settings.asksWhoComes
        }

        /// - Parameter users: nil where there is no file of them: those that are known remain.
        mutating func take(_ users: [User]?) {
            self.users = users ?? self.users ?? []
            isReadable = true
            wasGuarded = wasGuarded || self.users?.isEmpty == false
        }

        /// - Returns: whether they were readable before.
        mutating func failedToRead() -> Bool {
            defer { isReadable = false }
            return isReadable
        }

        /// Whether there is anything by which the owner logs in.
        var hasOwner: Bool { password != nil || token != nil }

        func user(_ id: User.ID) -> User? {
            if id == User.owner.id { return hasOwner ? .owner : nil }
            return users?.first { $0.id == id }
        }

        /// - Returns: nil where nobody can be that user.
        func fingerprint(of id: User.ID) -> [UInt8]? {
            guard let user = user(id) else { return nil }
            return user.passwordHash.map(Self.fingerprint) ?? fingerprint
        }

        private static func fingerprint(_ text: String) -> [UInt8] { Array(SHA256.hash(data: Array(text.utf8))) }
    }

    package let keyring: ServeKeyring
    private let stored = Mutex(Credentials())
    private let changedSettings: @Sendable () async -> ServeSettings?
    private let users: UserFile
    private let logger: Logger
    /// The last look at settings and users; it has no end while it is under way.
    private let look = Mutex<(task: Task<Void, Never>, end: ContinuousClock.Instant?)?>(nil)
    private let throttle = Mutex(LoginThrottle())
    private let check = PasswordCheck()
    private let start = ContinuousClock.now

    /// - Parameters:
    ///   - library: absolute path of its folder.
    ///   - users: those with a name, where they are known already. They are read again once a second at most.
    ///   - changed: the settings, where they changed since they were last asked for; asked as often.
    package init(
        _ settings: ServeSettings, library: String, users: [User]?, logger: Logger,
        changed: @escaping @Sendable () async -> ServeSettings?
    ) {
        stored.withLock { $0.take(settings) }
        if let users { stored.withLock { $0.take(users) } }
        changedSettings = changed
        self.users = UserFile(library: library)
        self.logger = logger
        keyring = ServeKeyring(library: library, logger: logger)
    }

    private var credentials: Credentials { stored.withLock { $0 } }

    /// Whether anybody has to prove who they are.
    package var asksWhoComes: Bool { credentials.asksWhoComes }

    /// Whether the shelf itself has a password or a token.
    package var hasOwner: Bool { credentials.hasOwner }

    /// Whether those who log in have names.
    package var hasUsers: Bool { credentials.users?.isEmpty == false }

    /// Passwords, tokens and users that were changed count a second later, for sessions too. All requests that come during a
    /// look wait for its end.
    private func lookForChanges() async {
        let task = look.withLock { look in
            if let look, look.end.map({ $0.duration(to: .now) < .seconds(1) }) ?? true { return look.task }
            let task = Task {
                await self.readChanges()
                self.look.withLock { $0?.end = .now }
            }
            look = (task, nil)
            return task
        }
        await task.value
    }

    private func readChanges() async {
        do {
            let users = try await runBlocking { [users] in try users.read() }
            stored.withLock { $0.take(users) }
        } catch {
            if stored.withLock({ $0.failedToRead() }) {
                logger.error(
                    "the users cannot be read: only those who are known may log in", metadata: ["error": "\(error)"])
            }
        }
        if let settings = await changedSettings() { stored.withLock { $0.take(settings) } }
    }

    // MARK: What a request proves

    /// - Parameter appsKey: of its path.
    /// - Returns: and who asks; the owner where nobody proved anything.
    package func proof(
        of request: Request, seenAs view: ClientView, appsKey: String?
    ) async -> (proof: RequestCredentials, user: User) {
        await lookForChanges()
        let credentials = credentials
        var (proof, user) = (RequestCredentials(), User.owner)
        proof.origin = RequestOrigin(
            origins: request.fields("Origin"), sites: request.fields("Sec-Fetch-Site"), own: view.origins)
        if let token = credentials.token, let brought = request.bearer {
            proof.hasToken = Session.isSame(brought, token.secretText)
        }
        if !proof.hasToken, let session = await session(of: request, seenAs: view) {
            // A user who was removed meanwhile has no session.
            let known = credentials.user(session.user)
            (proof.hasSession, user) = (known != nil, known ?? user)
        }
        if let appsKey {
            // Where all have names, the owner's key opens nothing.
            let isOwned = credentials.hasOwner || !credentials.asksWhoComes
            var holders = (credentials.users ?? []).map { (user: $0, key: $0.appsKey) }
            if isOwned { holders.append((.owner, await keyring.keys().apps)) }
            let found = holders.first { $0.key.map { Session.isSame(appsKey, $0) } ?? false }
            proof.hasAppsKey = found != nil
            user = found?.user ?? .owner
        }
        proof.isLimited = user.isLimited
        return (proof, user)
    }

    /// The key by which a user's podcast apps come.
    package func appsKey(of user: User) async -> String {
        guard user.id != User.owner.id else { return await keyring.keys().apps }
        return credentials.user(user.id)?.appsKey ?? ""
    }

    /// Gives the feeds of a user a new URL, and ends the old one; those of others remain.
    /// - Throws: ``Failure``, of kind `usage` if the user was removed.
    package func rotateApps(of user: User) async throws {
        guard user.id != User.owner.id else { return try await keyring.rotateApps() }
        let changed = try await runBlocking { [users] in
            try users.change { users in
                guard let index = users.firstIndex(where: { $0.id == user.id }) else {
                    throw UserBook.unknown(user.name ?? "")
                }
                users[index].appsKey = ServeKeys.newAppsKey()
            }
        }
        stored.withLock { $0.take(changed) }
    }

    /// - Returns: nil where there is none, it has expired, or it was logged out of.
    func session(of request: Request, seenAs view: ClientView) async -> Session? {
        let credentials = credentials
        guard credentials.asksWhoComes, request.mayHaveCookies else { return nil }
        let keys = await keyring.keys()
        return request.cookies(view.cookieName(Self.sessionName(keys))).lazy.compactMap {
            Session(cookie: $0, signedWith: keys, for: credentials.fingerprint, now: Self.now)
        }.first
    }

    /// What the forms of this browser have to carry.
    /// - Parameter visit: as of ``visit(of:seenAs:)``.
    package func formToken(for request: Request, seenAs view: ClientView, visit: String) async -> String {
        let session = await session(of: request, seenAs: view)
        return Session.formToken(of: session, visit: visit, signedWith: await keyring.keys())
    }

    /// A cookie that identifies a browser without a login, so that a form of another browser is refused.
    /// - Returns: and the cookie to set where the browser has none.
    package func visit(of request: Request, seenAs view: ClientView) -> (name: String, cookie: String?) {
        let known = request.cookies(view.cookieName(Self.visitName)).first { ServeKeys.bytes($0)?.count == 16 }
        if let known { return (known, nil) }
        let new = ServeKeys.base64URL(ServeKeys.random(16))
        return (new, view.cookie(Self.visitName, new, seconds: Session.lifetime))
    }

    // MARK: Login

    /// - Parameters:
    ///   - name: of the user; nil or empty for the owner.
    ///   - password: of the owner where there is none, the token does.
    ///   - client: the numeric address; nil at a Unix socket.
    package func logIn(
        as name: String?, with password: String, _ request: Request, seenAs view: ClientView, client: String?
    ) async throws -> Login {
        let (keys, credentials) = (await keyring.keys(), credentials)
        let browser = request.cookies(view.cookieName(Self.browserName(keys))).lazy
            .compactMap { Session.browser($0, signedWith: keys) }.first
        let who = LoginThrottle.Client(network: NumericAddress(client ?? "")?.network ?? "socket", browser: browser)
        let time = start.duration(to: .now)
        if case .wait(let seconds) = throttle.withLock({ $0.ask(who, at: Double(time.components.seconds)) }) {
            return .later(seconds)
        }
        // Only those who may try come so far, so that nobody fills the queue who may not.
        let name = name.flatMap { $0.isEmpty ? nil : $0 }
        let user = name == nil ? credentials.user(User.owner.id) : credentials.users?.first { $0.name == name }
        if name == nil, credentials.password == nil, let token = credentials.token {
            guard Session.isSame(password, token.secretText) else { return .wrong }
        } else {
            let hash = name == nil ? credentials.password : user?.passwordHash.flatMap(PasswordHash.init(parsing:))
            guard let isRight = try await check.matches(password, hash) else { return .later(2) }
            guard isRight else { return .wrong }
        }
        guard let user, let fingerprint = credentials.fingerprint(of: user.id) else { return .wrong }
        throttle.withLock { $0.succeeded(who) }
        let session = Session.begin(user.id, now: Self.now)
        let known = browser ?? ServeKeys.base64URL(ServeKeys.random(16))
        return .right([
            view.cookie(
                Self.sessionName(keys), session.cookie(signedWith: keys, for: fingerprint), seconds: Session.lifetime),
            view.cookie(
                Self.browserName(keys), Session.browserCookie(known, signedWith: keys), seconds: 365 * 86_400),
        ])
    }

    /// Ends the session, here and in the browser.
    /// - Returns: the cookie to set.
    package func logOut(_ request: Request, seenAs view: ClientView) async -> String {
        if let session = await session(of: request, seenAs: view) {
            await keyring.change { $0.end(session.identity, until: session.expiry, now: Self.now) }
        }
        return view.cookie(Self.sessionName(await keyring.keys()), "", seconds: 0)
    }

    // MARK: Names

    private static func sessionName(_ keys: ServeKeys) -> String { "booksync-" + Session.name(of: keys) }
    private static func browserName(_ keys: ServeKeys) -> String { "booksync-known-" + Session.name(of: keys) }
    private static let visitName = "booksync-visit"

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
