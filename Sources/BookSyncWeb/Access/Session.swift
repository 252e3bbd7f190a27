import BookModel
import Crypto
import Foundation

/// Somebody who gave the right password, until it expires or they log out: what the cookie holds, signed.
package struct Session: Sendable, Hashable {
    /// 128 bits, in base64.
    let identity: String
    /// Seconds since 1970.
    let expiry: Int64
    let user: User.ID

    /// Seconds for which a login is good.
    static let lifetime: Int64 = 30 * 86_400

    static func begin(_ user: User.ID = User.owner.id, now: Int64) -> Session {
        Session(identity: ServeKeys.base64URL(ServeKeys.random(16)), expiry: now + lifetime, user: user)
    }

    /// What is signed; the owner's names no user.
    private var text: String { "\(identity).\(expiry)" + (user == User.owner.id ? "" : ".\(user)") }

    /// - Parameter fingerprint: of what was proved; a session of another password is none.
    func cookie(signedWith keys: ServeKeys, for fingerprint: [UInt8]) -> String {
        "\(text).\(Self.signature("session", text, fingerprint, keys))"
    }
}

extension Session {
    /// - Parameters:
    ///   - fingerprints: of what each user proves; nil for those that there are not.
    ///   - now: seconds since 1970.
    /// - Returns: nil for what these keys did not sign, for what has expired and for what was ended.
    init?(cookie: String, signedWith keys: ServeKeys, for fingerprints: (User.ID) -> [UInt8]?, now: Int64) {
        let parts = cookie.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard (3...4).contains(parts.count), let expiry = Int64(parts[1]),
            let user = parts.count == 3 ? User.owner.id : Int64(parts[2])
        else { return nil }
        let session = Session(identity: parts[0], expiry: expiry, user: user)
        guard let fingerprint = fingerprints(user),
            Self.isSame(cookie, session.cookie(signedWith: keys, for: fingerprint)),
            now < expiry, expiry <= now + Self.lifetime, keys.ended[parts[0]] == nil
        else { return nil }
        self = session
    }

    // MARK: What else is signed

    /// What our forms carry, as a proof that a page of ours made them for this browser.
    /// - Parameter visit: the browser's cookie without a login: no two browsers have the same token.
    static func formToken(of session: Session?, visit: String, signedWith keys: ServeKeys) -> String {
        session.map { signature("form", $0.identity, [], keys) } ?? signature("visit", visit, [], keys)
    }

    /// What a browser keeps in which the right password was given: see ``LoginThrottle``.
    static func browserCookie(_ identity: String, signedWith keys: ServeKeys) -> String {
        "\(identity).\(signature("browser", identity, [], keys))"
    }

    /// - Returns: what the browser is called; nil for what these keys did not sign.
    static func browser(_ cookie: String, signedWith keys: ServeKeys) -> String? {
        let parts = cookie.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, isSame(parts[1], signature("browser", parts[0], [], keys)) else { return nil }
        return parts[0]
    }

    /// What the cookies of a library are called, so that servers that differ in their ports alone keep theirs apart.
    static func name(of keys: ServeKeys) -> String { String(signature("name", "", [], keys).prefix(8)) }

    /// Whether two texts are the same, in a time that does not tell where they differ.
    package static func isSame(_ one: String, _ other: String) -> Bool { isSame(Array(one.utf8), Array(other.utf8)) }

    static func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        let key = SymmetricKey(size: .bits256)
        let digest = HMAC<SHA256>.authenticationCode(for: one, using: key)
        return HMAC<SHA256>.isValidAuthenticationCode(digest, authenticating: other, using: key)
    }

    private static func signature(_ purpose: String, _ text: String, _ fingerprint: [UInt8], _ keys: ServeKeys)
        -> String
    {
        // A nought ends each part, so that no two of them are read as others.
        let message = Array("booksync \(purpose)\0\(text)\0".utf8) + fingerprint
        let code = HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: keys.session))
        return ServeKeys.base64URL(code)
    }
}
