/// The address of something to fetch. It may hold secrets (a user name, a signed query), so whatever prints it gets
/// ``withoutSecrets``; only the code that sends the request reads ``secretText``.
package struct ResourceAddress: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The whole address as the catalog gave it, secrets included. Never print or log it; only `AddressFile` stores it.
    package let secretText: String

    package init(_ text: String) {
        self.secretText = text
    }

    /// Query parameters that say which resource is meant, and never who asks for it.
    private static let harmlessParameters: Set<String> = [
        "bookid", "id", "pagenum", "pagesize", "page", "sorttype", "extended", "format",
    ]

    /// The address without user and password and fragment, with the value of every query parameter masked that is
    /// not known to be harmless. Of an address whose host cannot be told from a password only the scheme is left.
    package var withoutSecrets: String {
        if hasNothingToHide { return secretText }
        let text = Substring(secretText)
        guard let shown = Self.withoutUser(text.prefix { $0 != "?" && $0 != "#" }) else {
            return text.prefix { $0 != "/" } + "//***"
        }
        let beforeFragment = text.prefix { $0 != "#" }
        guard let mark = beforeFragment.firstIndex(of: "?") else { return shown }
        let query = beforeFragment[mark...].dropFirst()
        if query.isEmpty { return shown }
        // Some servers separate parameters by semicolons.
        let masked = query.split { $0 == "&" || $0 == ";" }.map { pair -> String in
            guard let equals = pair.firstIndex(of: "=") else { return "***" }
            let name = pair[..<equals]
            return Self.harmlessParameters.contains(name.lowercased()) ? String(pair) : "\(name)=***"
        }
        return shown + "?" + masked.joined(separator: "&")
    }

    /// Whether it is plainly an address of the web without user, query and fragment, as most are: told by one pass over
    /// its bytes, since a listing has thousands.
    package var hasNothingToHide: Bool {
        guard secretText.hasPrefix("http://") || secretText.hasPrefix("https://") else { return false }
        var slashes = 0
        var isInPort = false
        for byte in secretText.utf8 {
            switch byte {
            case UInt8(ascii: "@"), UInt8(ascii: "?"), UInt8(ascii: "#"): return false
            case UInt8(ascii: "/"): slashes += 1
            // The host, behind the second slash and before the third.
            case UInt8(ascii: "[") where slashes == 2: return false
            case UInt8(ascii: ":") where slashes == 2 && !isInPort: isInPort = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): break
            default: if slashes == 2, isInPort { return false }
            }
        }
        return true
    }

    /// - Returns: nil when what should be a port is none: then a password with a `/`, `?` or `#` was not encoded, and
    ///   what follows is the rest of it.
    private static func withoutUser(_ text: Substring) -> String? {
        guard let slashes = text.firstRange(of: "//"), text[..<slashes.lowerBound].allSatisfy({ $0 != "/" }) else {
            // No host, unless it is an address whose scheme was left out.
            let first = text.prefix { $0 != "/" }
            guard first.contains(":"), let at = first.lastIndex(of: "@") else { return String(text) }
            return String(text[at...].dropFirst())
        }
        let authority = text[slashes.upperBound...].prefix { $0 != "/" }
        if let at = authority.lastIndex(of: "@") {
            return String(text[..<slashes.upperBound] + text[at...].dropFirst())
        }
        let afterAddress = authority.lastIndex(of: "]").map { authority[$0...] } ?? authority
        if let colon = afterAddress.firstIndex(of: ":"),
            !afterAddress[colon...].dropFirst().allSatisfy({ $0.isASCII && $0.isNumber })
        {
            return nil
        }
        return String(text)
    }

    /// Scheme, host and port, for telling servers apart; empty when the address names none.
    package var server: String {
        // By bytes: transfers are told apart by it again and again.
        let text = withoutSecrets.utf8
        guard let end = text.firstIndex(of: UInt8(ascii: ":")), text[end...].starts(with: "://".utf8) else { return "" }
        let path = text[end...].dropFirst(3).firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
        return Substring(text[..<(path ?? text.endIndex)]).lowercased()
    }

    package var holdsSecrets: Bool { withoutSecrets != secretText }

    /// Whether the text was once printed with something masked, so that it fetches nothing any more.
    package var isMasked: Bool { secretText.contains("***") }

    package var description: String { withoutSecrets }
    package var debugDescription: String { withoutSecrets }
    /// Hides the stored text from `dump` and from the test library, which print what a mirror shows.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
