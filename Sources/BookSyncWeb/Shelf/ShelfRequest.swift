import BookModel
import BookSync
import Hummingbird

/// A request that may be answered, in the parts that its handlers look at.
struct ShelfRequest: Sendable {
    /// As it came.
    let wire: Request
    /// Of the path, behind the base path; never decoded. A path that ends with a slash ends with an empty part.
    let parts: [String]
    /// Where the things of the shelf are to be had by this client.
    let addresses: ShelfAddresses
    /// What a POST brought.
    let body: [UInt8]
    /// The numeric address of the client; nil at a Unix socket.
    let client: String?

    var method: HTTPRequest.Method { wire.method }

    /// The parameters of the address, decoded; of several by one name the last.
    var query: [String: String] { wire.parameters }

    /// Reads the parts of a path.
    /// - Returns: nil when the path is not below the base path, or has a part that nothing is called by.
    static func parts(of target: String, below basePath: String) -> [String]? {
        let path = target.prefix { $0 != "?" && $0 != "#" }
        guard path.utf8.starts(with: (basePath + "/").utf8) else { return nil }
        let parts = path.utf8.dropFirst(basePath.utf8.count + 1)
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Array($0) }
        let isLastEmpty = parts.last?.isEmpty == true
        guard parts.dropLast(isLastEmpty ? 1 : 0).allSatisfy(canBeName) else { return nil }
        return parts.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func canBeName(_ part: [UInt8]) -> Bool {
        guard let first = part.first, first != UInt8(ascii: ".") else { return false }
        return part.allSatisfy(\.isUnreserved)
    }
}

extension Request {
    /// The parameters of the address, decoded as forms write them; of several by one name the last. None where they are not
    /// written so.
    var parameters: [String: String] {
        let query = (head.path ?? "").split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).dropFirst()
        let fields = query.first.flatMap { FormFields(Array($0.prefix { $0 != "#" }.utf8)) }?.fields ?? []
        return Dictionary(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last })
    }
}
