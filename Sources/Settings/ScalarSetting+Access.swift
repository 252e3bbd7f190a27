import BookModel

// Who may come to the served shelf, and by which names it is called.

extension ScalarSetting {
    static let servePassword = ScalarSetting(
        key: "serve.password", expected: "a hash, as 'booksync serve --set-password' makes it", isSecret: true
    ) { settings, text, _ in
        settings.serve.password = PasswordHash(parsing: text)
        return text.isEmpty || settings.serve.password != nil
    } shown: {
        .text($0.serve.password?.description ?? "")
    }

    static let serveToken = ScalarSetting(
        key: "serve.token", expected: "\(ServeSettings.minToken) visible ASCII characters or more", isSecret: true
    ) { settings, text, _ in
        settings.serve.token = text.isEmpty ? nil : Secret(text)
        return text.isEmpty || ServeSettings.canBeToken(text)
    } shown: {
        .text($0.serve.token?.description ?? "")
    }

    /// The absolute path of a file; empty for none.
    static func path(_ key: String, _ value: any WritableKeyPath<Configuration, String?> & Sendable) -> ScalarSetting {
        ScalarSetting(key: key, expected: "the path of a file") { settings, text, base in
            settings[keyPath: value] = text.isEmpty ? nil : base.absolutePath(text)
            return text.isEmpty || settings[keyPath: value] != nil
        } shown: {
            .text($0[keyPath: value] ?? "")
        }
    }

    static let serveHosts = ScalarSetting(
        key: "serve.hosts", expected: "a list of names or numeric addresses, without ports", isList: true
    ) { settings, text, _ in
        let hosts = text.split { $0 == "," || $0 == " " }.map { $0.lowercased() }
        settings.serve.hosts = hosts
        return hosts.allSatisfy(ServeSettings.canBeHost)
    } shown: {
        .list($0.serve.hosts.map { .text($0) })
    }
}
