import Foundation

/// The address of something to fetch. It may hold secrets (a user name, a signed query), so whatever prints it gets
/// ``withoutSecrets``; only the code that sends the request reads ``secretText``.
package struct ResourceAddress: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The whole address as the catalog gave it, secrets included. Never print, log or store it.
    package let secretText: String

    package init(_ text: String) {
        self.secretText = text
    }

    /// Query parameters that say which resource is meant, and never who asks for it.
    private static let harmlessParameters: Set<String> = [
        "bookid", "id", "pagenum", "pagesize", "page", "sorttype", "extended", "format",
    ]

    /// The address without user and password and fragment, with the value of every query parameter masked that is
    /// not known to be harmless.
    package var withoutSecrets: String {
        var text = Substring(secretText)
        if let fragment = text.firstIndex(of: "#") { text = text[..<fragment] }
        var query: Substring?
        if let mark = text.firstIndex(of: "?") {
            query = text[text.index(after: mark)...]
            text = text[..<mark]
        }
        var shown = String(text)
        if let scheme = text.range(of: "//") {
            let authorityEnd = text[scheme.upperBound...].firstIndex(of: "/") ?? text.endIndex
            if let at = text[scheme.upperBound..<authorityEnd].lastIndex(of: "@") {
                shown = String(text[..<scheme.upperBound]) + text[text.index(after: at)...]
            }
        }
        guard let query, !query.isEmpty else { return shown }
        let masked = query.split(separator: "&").map { pair -> String in
            guard let equals = pair.firstIndex(of: "=") else { return "***" }
            let name = pair[..<equals]
            return Self.harmlessParameters.contains(name.lowercased()) ? String(pair) : "\(name)=***"
        }
        return shown + "?" + masked.joined(separator: "&")
    }

    package var description: String { withoutSecrets }
    package var debugDescription: String { withoutSecrets }
}
