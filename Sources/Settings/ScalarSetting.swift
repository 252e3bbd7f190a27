import BookModel
import LibraryFiles

/// A setting with one value, that the file and the environment can set: how its text is read, and how it is shown.
struct ScalarSetting: Sendable {
    /// As in the file, with its group: `downloads.jobs`.
    let key: String
    /// Completes "expected …".
    let expected: Message
    /// Whether a wrong value may be quoted in an error.
    var isSecret = false
    /// Whether the file may have a list; its items come as one text, with commas between them, as the environment has
    /// them.
    var isList = false
    /// - Returns: whether the text was such a value.
    /// - Throws: ``Failure`` where there is more to say.
    let apply: @Sendable (inout Configuration, _ text: String, PathBase) throws -> Bool
    let shown: @Sendable (Configuration) -> ShownSetting

    /// `BOOKSYNC_JOBS`; the group `downloads` is left out.
    var environmentName: String {
        if key == "language" { return Language.variable }
        let name = key.hasPrefix("downloads.") ? String(key.dropFirst("downloads.".count)) : key
        return "BOOKSYNC_" + String(name.map { $0 == "-" || $0 == "." ? "_" : $0 }).uppercased()
    }

    static func named(_ key: String) -> ScalarSetting? { all.first { $0.key == key } }

    /// In the order in which they are shown.
    static let all: [ScalarSetting] = [
        .value("library", \.library, expected: "the path of a folder") { $1.absolutePath($0) },
        .optional("store", \.storeFolder, expected: "the path of a folder") { $1.absolutePath($0) },
        .optional("default-source", \.defaultSource, expected: "the name of a source") { text, _ in text },
        .value("naming", \.naming, expected: "a template") { text, _ in try NamingTemplate(parsing: text) },
        .optional("language", \.language, expected: "en or zh") { text, _ in
            Language(rawValue: text)
        } shown: {
            .text($0.rawValue)
        },
        .number("downloads.jobs", \.downloads.jobs, in: 1...64),
        .number("downloads.jobs-per-host", \.downloads.jobsPerHost, in: 1...64),
        .choice("downloads.order", \.downloads.order),
        .bytes("downloads.limit-rate", \.downloads.limitRate, expected: "bytes a second such as 2M, or 0 for no limit"),
        .number("downloads.retries", \.downloads.retries, in: 0...100),
        .seconds("downloads.connect-timeout", \.downloads.connectTimeout),
        .seconds("downloads.stall-timeout", \.downloads.stallTimeout),
        .bytes("downloads.min-rate", \.downloads.minRate, expected: "bytes a second such as 1k, or 0 for no minimum"),
        .seconds("downloads.answer-timeout", \.downloads.answerTimeout),
        .bytes("downloads.min-free-space", \.downloads.minFreeSpace, expected: "bytes such as 500M or 2G"),
        .bytes("downloads.max-undeclared-size", \.downloads.maxUndeclaredSize, expected: "bytes such as 4G"),
        .choice("downloads.on-missing-file", \.downloads.onMissingFile),
        .choice("downloads.probe", \.downloads.probe),
        .choices("downloads.export", \.downloads.export),
        .choice("downloads.tags", \.downloads.tags),
        .choice("downloads.join", \.downloads.join),
        .choice("on-catalog-removal", \.onCatalogRemoval),
        .choice("on-catalog-change", \.onCatalogChange),
        .value("trash", \.keptInTrash, expected: "a time such as 30d") { text, _ in
            parseSeconds(text).flatMap { $0 < 1e11 ? $0 : nil }
        } shown: {
            .number($0)
        },
        .optional("notify.exec", \.notify.exec, expected: "a command", isSecret: true) { text, _ in
            text.contains("\0") ? nil : Secret(text)
        } shown: {
            .text(Masking.command($0))
        },
        .optional("notify.webhook", \.notify.webhook, expected: "an http or https address", isSecret: true) { text, _ in
            isWebAddress(text) ? Secret(text) : nil
        } shown: {
            .text(Masking.webhook($0))
        },
        .optional("notify.audiobookshelf.url", \.notify.audiobookshelf, expected: serverAddress) { text, _ in
            isServerAddress(text) ? text : nil
        },
        .optional(
            "notify.audiobookshelf.token", \.notify.audiobookshelfToken,
            expected: "an API token, of visible ASCII characters", isSecret: true
        ) { text, _ in
            let isToken = text.utf8.count <= 4096 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            return isToken ? Secret(text) : nil
        },
        .optional(
            "notify.audiobookshelf.library", \.notify.audiobookshelfLibrary,
            expected: "a library's id, as its address in Audiobookshelf ends"
        ) { text, _ in text.utf8.count <= 100 && text.utf8.allSatisfy(\.isUnreserved) ? text : nil },
        .choices("find.sources", \.find.sources),
        .address("find.itunes-url", \.find.itunesURL), .address("find.fyyd-url", \.find.fyydURL),
        .value("serve.listen", \.serve.listen, expected: "HOST:PORT, a port, or unix:PATH") { text, _ in
            ServeSettings.isListenAddress(text) ? text : nil
        },
        .value("serve.base-path", \.serve.basePath, expected: "a path such as /shelf") { text, _ in
            ServeSettings.canBeBasePath(text) ? text : nil
        },
        .optional("serve.public-url", \.serve.publicURL, expected: serverAddress) { text, _ in
            isServerAddress(text) ? text : nil
        },
        .optional("serve.tls.certificate", \.serve.certificatePath, expected: "the path of a file") {
            $1.absolutePath($0)
        },
        .optional("serve.tls.key", \.serve.keyPath, expected: "the path of a file") { $1.absolutePath($0) },
        .optional(
            "serve.password", \.serve.password, expected: "a hash, as 'booksync serve --set-password' makes it",
            isSecret: true
        ) { text, _ in PasswordHash(parsing: text) },
        .optional(
            "serve.token", \.serve.token, expected: "\(ServeSettings.minToken) visible ASCII characters or more",
            isSecret: true
        ) { text, _ in ServeSettings.canBeToken(text) ? Secret(text) : nil },
        .value(
            "serve.hosts", \.serve.hosts, expected: "a list of names or numeric addresses, without ports",
            isList: true
        ) { text, _ in
            let hosts = words(of: text.lowercased())
            return hosts.allSatisfy(ServeSettings.canBeHost) ? hosts : nil
        } shown: {
            .list($0.map { .text($0) })
        },
        .value("serve.read-only", \.serve.isReadOnly, expected: "true or false") { text, _ in
            flag(text)
        } shown: {
            .flag($0)
        },
        .optional("serve.mirror-every", \.serve.mirrorInterval, expected: "a time such as 6h, from 1m on") { text, _ in
            ServeSettings.mirrorInterval(text)
        } shown: {
            .number($0)
        },
        .optional("ca-file", \.authorities, expected: "the path of a file") { text, base in
            try base.absolutePath(text).map { try usable("the ca-file", at: $0, SettingFile.authorities) }
        } shown: {
            .text($0.path)
        },
        .value("netrc", \.netrcChoice, expected: "the path of a file, or none") { text, base in
            switch text {
            case "": .standard
            case "none": .nowhere
            default:
                try base.absolutePath(text).map { .file(try usable("the netrc file", at: $0, SettingFile.netrc)) }
            }
        } shown: {
            switch $0 {
            case .standard: .text("")
            case .nowhere: .text("none")
            case .file(let file): .text(file.path)
            }
        },
    ]

    private static let serverAddress: Message = "an http or https address without user, query and fragment"

    /// - Parameters:
    ///   - parse: returns nil if the text is not such a value.
    ///   - shown: the value's description by default.
    private static func value<Value>(
        _ key: String, _ path: any WritableKeyPath<Configuration, Value> & Sendable, expected: Message,
        isSecret: Bool = false, isList: Bool = false,
        parse: @escaping @Sendable (_ text: String, PathBase) throws -> Value?,
        shown: @escaping @Sendable (Value) -> ShownSetting = { .text("\($0)") }
    ) -> ScalarSetting {
        ScalarSetting(key: key, expected: expected, isSecret: isSecret, isList: isList) { settings, text, base in
            guard let value = try parse(text, base) else { return false }
            settings[keyPath: path] = value
            return true
        } shown: {
            shown($0[keyPath: path])
        }
    }

    /// One that may have no value, which is an empty text.
    private static func optional<Value>(
        _ key: String, _ path: any WritableKeyPath<Configuration, Value?> & Sendable, expected: Message,
        isSecret: Bool = false, parse: @escaping @Sendable (_ text: String, PathBase) throws -> Value?,
        shown: @escaping @Sendable (Value) -> ShownSetting = { .text("\($0)") }
    ) -> ScalarSetting {
        value(key, path, expected: expected, isSecret: isSecret) { text, base in
            text.isEmpty ? .some(nil) : try parse(text, base).map(Optional.some)
        } shown: {
            $0.map(shown) ?? .text("")
        }
    }

    private static func number(
        _ key: String, _ path: any WritableKeyPath<Configuration, Int> & Sendable, in range: ClosedRange<Int>
    ) -> ScalarSetting {
        let expected: Message = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        return value(key, path, expected: expected) { text, _ in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        } shown: {
            .number(Double($0))
        }
    }

    private static func bytes(
        _ key: String, _ path: any WritableKeyPath<Configuration, Int64> & Sendable, expected: Message
    ) -> ScalarSetting {
        value(key, path, expected: expected) { text, _ in
            parseByteCount(text)
        } shown: {
            .number(Double($0))
        }
    }

    private static func seconds(
        _ key: String, _ path: any WritableKeyPath<Configuration, Double> & Sendable
    ) -> ScalarSetting {
        value(key, path, expected: "a time such as 10s, from 100ms to 1d") { text, _ in
            parseSeconds(text).flatMap { (0.1...86_400).contains($0) ? $0 : nil }
        } shown: {
            .number($0)
        }
    }

    private static func address(
        _ key: String, _ path: any WritableKeyPath<Configuration, ResourceAddress> & Sendable
    ) -> ScalarSetting {
        value(key, path, expected: serverAddress) { text, _ in
            isServerAddress(text) ? ResourceAddress(text) : nil
        } shown: {
            .text($0.withoutSecrets)
        }
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ key: String, _ path: any WritableKeyPath<Configuration, Choice> & Sendable
    ) -> ScalarSetting {
        let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        return value(key, path, expected: "one of \(words)") { text, _ in
            Choice(rawValue: text)
        } shown: {
            .text($0.rawValue)
        }
    }

    private static func choices<Choice: RawRepresentable<String> & CaseIterable & Hashable & Sendable>(
        _ key: String, _ path: any WritableKeyPath<Configuration, [Choice]> & Sendable
    ) -> ScalarSetting {
        let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        return value(key, path, expected: "a list of any of \(words)", isList: true) { text, _ in
            let words = Self.words(of: text)
            let choices = words.compactMap(Choice.init(rawValue:))
            return choices.count == words.count && Set(choices).count == choices.count ? choices : nil
        } shown: {
            .list($0.map { .text($0.rawValue) })
        }
    }

    private static func words(of text: String) -> [String] {
        text.split { $0 == "," || $0 == " " }.map(String.init)
    }

    /// - Throws: ``Failure`` of kind `configuration`.
    private static func usable<Content>(
        _ name: Message, at path: String, _ read: (String) throws(SettingFile.Unusable) -> NamedFile<Content>
    ) throws -> NamedFile<Content> {
        do {
            return try read(path)
        } catch {
            throw Failure(
                .configuration, disposition: .stop, what: "\(name) cannot be used", why: error.why,
                remedy: "correct the path, or the file and who may read it")
        }
    }
}

extension ScalarSetting {
    /// - Returns: nil when the text, in lower case, says neither.
    static func flag(_ text: String) -> Bool? {
        switch text {
        case "true", "yes", "on": true
        case "false", "no", "off": false
        default: nil
        }
    }
}

/// Whether the text is an address that can be asked: http or https, with a host and without white space.
func isWebAddress(_ text: String) -> Bool {
    let lower = text.lowercased()
    guard let scheme = ["http://", "https://"].first(where: lower.hasPrefix) else { return false }
    let host = lower.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
    return !host.isEmpty && !text.contains { $0.isWhitespace || $0.asciiValue.map { $0 < 0x20 } ?? false }
}

/// Whether what is served can be said to be below this address: http or https, without user, query and fragment.
package func isServerAddress(_ text: String) -> Bool {
    isWebAddress(text) && !text.contains { "?#@\"<>".contains($0) }
}

/// What paths are relative to.
struct PathBase: Sendable {
    let homeFolder: String
    let folder: String

    /// - Returns: nil when the text names no path.
    func absolutePath(_ text: String) -> String? {
        guard !text.isEmpty, !text.contains("\0") else { return nil }
        let whole: String
        if text == "~" || text.hasPrefix("~/") {
            whole = homeFolder + "/" + text.dropFirst(2)
        } else if text.hasPrefix("~") {
            // Another user's home: only the shell knows where it is.
            return nil
        } else {
            whole = text.hasPrefix("/") ? text : folder + "/" + text
        }
        // `..` stays: behind a symbolic link it does not mean the folder before it.
        return "/" + whole.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
    }
}
