import BookModel
import Foundation

/// The server as one client sees it: directly, or through a proxy that offers it under the public address.
package struct ClientView: Sendable, Hashable {
    /// What the paths of the server begin with, for this client; empty, or with a slash in front and none at its end.
    package let root: String
    /// Whether nobody on the way reads along.
    let isSecure: Bool
    /// What the browser calls the pages of this server (RFC 6454): lower case, standard ports left out.
    package let origins: [String]
    /// Where the cookies are good.
    let cookiePath: String
}

extension ClientView {
    /// - Parameters:
    ///   - authority: the Host field.
    ///   - basePath: what the paths begin with that the server is asked for.
    ///   - isSecure: whether the server itself speaks TLS.
    package init(authority: String, basePath: String, publicURL: String?, isSecure: Bool = false) {
        let here = authority.lowercased()
        let standardPort = isSecure ? ":443" : ":80"
        let open =
            (isSecure ? "https://" : "http://")
            + (here.hasSuffix(standardPort) ? String(here.dropLast(standardPort.count)) : here)
        guard let publicURL, let url = URL(string: publicURL), let scheme = url.scheme?.lowercased(),
            let host = url.host?.lowercased()
        else {
            self.init(
                root: basePath, isSecure: isSecure, origins: [open], cookiePath: basePath.isEmpty ? "/" : basePath)
            return
        }
        let standard = scheme == "https" ? 443 : 80
        let port = url.port ?? standard
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        let whole = port == standard ? name : "\(name):\(port)"
        // A proxy may pass the name on without the port.
        let isPublic = here == name || here == "\(name):\(port)"
        let slashes = url.path.reversed().prefix { $0 == "/" }.count
        let path = String(url.path.dropLast(slashes))
        self.init(
            root: isPublic ? path : basePath, isSecure: isPublic ? scheme == "https" : isSecure,
            origins: isPublic ? ["\(scheme)://\(whole)"] : [open, "\(scheme)://\(whole)"],
            cookiePath: path == basePath && !path.isEmpty ? path : "/")
    }

    // MARK: Ways back

    /// Where to go on, behind a form; only ever below our own root.
    ///
    /// Browsers take `//host` and `/\host` for other servers, and drop line breaks and tabs before they look.
    /// - Parameter text: what the form says.
    package func returnURL(_ text: String?) -> String {
        guard let text, text.utf8.count <= 2048, text.hasPrefix(root + "/"),
            // What an address is written with (RFC 3986 §2).
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"\"<>\\^`{|}".utf8.contains($0) })
        else { return root + "/" }
        let path = text.prefix { $0 != "?" && $0 != "#" }.dropFirst(root.count)
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        let isOwn =
            parts.dropLast().allSatisfy { !$0.isEmpty }
            && parts.allSatisfy { part in
                // Dots in any spelling lead up.
                ![".", ".."].contains(part.lowercased().replacing("%2e", with: "."))
            }
        return isOwn ? text : root + "/"
    }

    /// - Parameter target: as it was asked for, below the base path.
    package func loginPath(for target: String, basePath: String) -> String {
        let back = returnURL(root + target.dropFirst(basePath.count))
        guard back != root + "/" else { return root + "/login" }
        return "\(root)/login?return=\(Self.encoded(back))"
    }

    /// A text as a value of a query (RFC 3986 §3.4).
    package static func encoded(_ text: String) -> String {
        percentEncoded(text.utf8) { $0.isUnreserved || $0 == UInt8(ascii: "/") }
    }

    // MARK: Cookies

    /// - Parameter name: what it is for, in plain letters.
    func cookieName(_ name: String) -> String {
        // RFC 6265bis §4.1.3: browsers take such a name from nobody else.
        guard isSecure else { return name }
        return (cookiePath == "/" ? "__Host-" : "__Secure-") + name
    }

    /// The Set-Cookie field. Lax: a link on another site leads to the page and not to the login. No GET changes anything or has
    /// others asked, and what other sites have a browser post comes without the cookie.
    /// - Parameter seconds: for which it is kept; 0 takes it away.
    func cookie(_ name: String, _ value: String, seconds: Int64) -> String {
        "\(cookieName(name))=\(value); Path=\(cookiePath); Max-Age=\(seconds); HttpOnly; SameSite=Lax"
            + (isSecure ? "; Secure" : "")
    }
}
