import BookModel
import Foundation

/// What `Authorization` says (RFC 9110 §11.6.2).
package enum Authorization: Sendable, Hashable {
    /// RFC 7617.
    case basic(user: Secret, password: Secret)
    /// RFC 6750.
    case bearer(Secret)

    /// The user and password that an address has before its host; nil where it has none.
    package init?(userOf address: ResourceAddress) {
        let text = address.secretText
        guard text.utf8.contains(UInt8(ascii: "@")) else { return nil }
        guard let slashes = text.firstRange(of: "://") else { return nil }
        let authority = text[slashes.upperBound...].prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return nil }
        let words = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        func decoded(_ word: Substring) -> Secret { Secret(word.removingPercentEncoding ?? String(word)) }
        self = .basic(user: decoded(words[0]), password: words.count == 2 ? decoded(words[1]) : Secret(""))
    }

    var field: String {
        switch self {
        case .basic(let user, let password):
            "Basic " + Data((user.secretText + ":" + password.secretText).utf8).base64EncodedString()
        case .bearer(let token): "Bearer " + token.secretText
        }
    }
}
