import BookModel
import Foundation

/// What a server knows and its clients do not: the key that sessions are signed with, and the key by which the owner's podcast
/// apps come without a password. Whatever prints it by accident prints `***`.
struct ServeKeys: Sendable, Hashable, Codable {
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
    /// JSON.
    var fileBytes: [UInt8] {
        get throws { Array(try JSONEncoder().encode(self)) }
    }

    /// - Returns: nil when the bytes are not what ``fileBytes`` makes.
    init?(fileBytes bytes: [UInt8]) {
        guard let keys = try? JSONDecoder().decode(Self.self, from: Data(bytes)), keys.session.count == 32,
            let apps = Self.bytes(keys.apps), apps.count >= 16
        else { return nil }
        self = keys
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
