import BookModel

/// What the environment says about proxies: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, each in lower case
/// or, where that is not set, in capitals.
package struct ProxyEnvironment: Sendable, Hashable {
    /// A variable's text may hold a password.
    private struct Setting: Sendable, Hashable {
        var variable: String
        var text: Secret
    }

    private var plain: Setting?
    private var secure: Setting?
    private var exceptions: NoProxyList

    /// No proxy at all.
    package static let none = ProxyEnvironment([:])

    package init(_ environment: [String: String]) {
        func setting(_ names: String...) -> Setting? {
            for name in names {
                if let text = environment[name], !text.isEmpty { return Setting(variable: name, text: Secret(text)) }
            }
            return nil
        }
        // Of a CGI program anybody can set HTTP_PROXY, by a header called "Proxy" (httpoxy).
        let plainNames = environment["REQUEST_METHOD"] == nil ? ["http_proxy", "HTTP_PROXY"] : ["http_proxy"]
        let all = setting("all_proxy", "ALL_PROXY")
        plain = plainNames.lazy.compactMap { setting($0) }.first ?? all
        secure = setting("https_proxy", "HTTPS_PROXY") ?? all
        exceptions = NoProxyList(setting("no_proxy", "NO_PROXY")?.text.secretText ?? "")
    }

    /// The proxy for a server; nil when it is to be asked directly.
    ///
    /// - Throws: ``ProxyAddress/Unreadable``, naming the variable.
    func proxy(for target: RequestTarget) throws(ProxyAddress.Unreadable) -> ProxyAddress? {
        guard let setting = target.isSecure ? secure : plain, !exceptions.covers(host: target.host, port: target.port)
        else { return nil }
        do {
            return try ProxyAddress(parsing: setting.text.secretText)
        } catch {
            throw ProxyAddress.Unreadable(why: "\(setting.variable): \(error.why)")
        }
    }
}
