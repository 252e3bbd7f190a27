import BookModel
import Foundation

/// What a server knows and its clients do not: the key that sessions are signed with, and the key by which the owner's podcast
/// apps come without a password. Whatever prints it by accident prints `***`.
struct ServeKeys: Sendable, Hashable {
    /// 32 bytes.
    private(set) var session: [UInt8]
    /// 160 bits, in letters that need no encoding in a path.
    private(set) var apps: String
    /// Sessions that were logged out of before they expired: their identities, with when they expire in seconds since 1970.
    private(set) var ended: [String: Int64] = [:]

    /// Sessions that are kept in mind; beyond that all end.
    static let maxCount = 1000

    static func make() -> ServeKeys {
        ServeKeys(session: random(32), apps: newAppsKey())
    }

    mutating func rotateApps() {
        apps = Self.newAppsKey()
    }

    /// 160 bits: enough for a key, and addresses are typed.
    static func newAppsKey() -> String { base64URL(random(20)) }

    /// Ends all sessions.
    mutating func endAll() {
        session = Self.random(32)
        ended = [:]
    }

    /// - Parameter now: seconds since 1970.
    mutating func end(_ session: String, until expiry: Int64, now: Int64) {
        ended = ended.filter { $0.value > now }
        if ended.count >= Self.maxCount {
            endAll()
        } else {
            ended[session] = expiry
        }
    }
}

// MARK: The file

extension ServeKeys {
    private static let title = "booksync serve 1"

    var fileText: String {
        let lines = [Self.title, "session \(Self.base64URL(session))", "apps \(apps)"]
        return (lines + ended.sorted { $0.key < $1.key }.map { "ended \($0.key) \($0.value)" })
            .joined(separator: "\n") + "\n"
    }

    /// - Returns: nil when the text is not what ``fileText`` makes.
    init?(fileText text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 4, lines[0] == Self.title, lines.last == "", lines[1].hasPrefix("session "),
            lines[2].hasPrefix("apps "), let session = Self.bytes(String(lines[1].dropFirst(8))), session.count == 32,
            let apps = Self.bytes(String(lines[2].dropFirst(5))), apps.count >= 16
        else { return nil }
        self.init(session: session, apps: Self.base64URL(apps))
        for line in lines.dropFirst(3).dropLast() {
            let words = line.split(separator: " ")
            guard words.count == 3, words[0] == "ended", let expiry = Int64(words[2]) else { return nil }
            ended[String(words[1])] = expiry
        }
    }

    // MARK: Bytes

    static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// RFC 4648 §5, without padding.
    static func base64URL(_ bytes: some Sequence<UInt8>) -> String {
        UnpaddedBase64.text(of: bytes).replacing("+", with: "-").replacing("/", with: "_")
    }

    static func bytes(_ text: String) -> [UInt8]? {
        guard !text.contains(where: { "+/".contains($0) }) else { return nil }
        return UnpaddedBase64.bytes(of: text.replacing("-", with: "+").replacing("_", with: "/"))
    }
}

extension ServeKeys: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "***" }
    var debugDescription: String { "***" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
