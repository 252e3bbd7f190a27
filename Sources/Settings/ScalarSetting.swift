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
        ScalarSetting(key: "library", expected: "the path of a folder") { settings, text, base in
            base.absolutePath(text).map { settings.library = $0 } != nil
        } shown: {
            .text($0.library)
        },
        ScalarSetting(key: "store", expected: "the path of a folder") { settings, text, base in
            settings.storeFolder = text.isEmpty ? nil : base.absolutePath(text)
            return text.isEmpty || settings.storeFolder != nil
        } shown: {
            .text($0.storeFolder ?? "")
        },
        ScalarSetting(key: "default-source", expected: "the name of a source") { settings, text, _ in
            settings.defaultSource = text.isEmpty ? nil : text
            return true
        } shown: {
            .text($0.defaultSource ?? "")
        },
        ScalarSetting(key: "naming", expected: "a template") { settings, text, _ in
            settings.naming = try NamingTemplate(parsing: text)
            return true
        } shown: {
            .text($0.naming.description)
        },
        ScalarSetting(key: "language", expected: "en or zh") { settings, text, _ in
            settings.language = text.isEmpty ? nil : Language(rawValue: text)
            return text.isEmpty || settings.language != nil
        } shown: {
            .text($0.language?.rawValue ?? "")
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
        ScalarSetting(key: "trash", expected: "a time such as 30d") { settings, text, _ in
            let seconds = parseSeconds(text).flatMap { $0 < 1e11 ? $0 : nil }
            settings.keptInTrash = seconds ?? settings.keptInTrash
            return seconds != nil
        } shown: {
            .number($0.keptInTrash)
        },
        ScalarSetting(key: "notify.exec", expected: "a command", isSecret: true) { settings, text, _ in
            settings.notify.exec = text.isEmpty ? nil : Secret(text)
            return !text.contains("\0")
        } shown: {
            .text(Masking.command($0.notify.exec))
        },
        ScalarSetting(key: "notify.webhook", expected: "an http or https address", isSecret: true) {
            settings, text, _ in
            settings.notify.webhook = text.isEmpty ? nil : Secret(text)
            return text.isEmpty || isWebAddress(text)
        } shown: {
            .text(Masking.webhook($0.notify.webhook))
        },
        audiobookshelfURL, audiobookshelfToken, audiobookshelfLibrary,
        .choices("find.sources", \.find.sources),
        .address("find.itunes-url", \.find.itunesURL), .address("find.fyyd-url", \.find.fyydURL),
        ScalarSetting(key: "serve.listen", expected: "HOST:PORT, a port, or unix:PATH") { settings, text, _ in
            settings.serve.listen = text
            return ServeSettings.isListenAddress(text)
        } shown: {
            .text($0.serve.listen)
        },
        ScalarSetting(key: "serve.base-path", expected: "a path such as /shelf") { settings, text, _ in
            settings.serve.basePath = text
            return ServeSettings.canBeBasePath(text)
        } shown: {
            .text($0.serve.basePath)
        },
        ScalarSetting(key: "serve.public-url", expected: "an http or https address without user, query and fragment") {
            settings, text, _ in
            settings.serve.publicURL = text.isEmpty ? nil : text
            return text.isEmpty || isServerAddress(text)
        } shown: {
            .text($0.serve.publicURL ?? "")
        },
        .path("serve.tls.certificate", \.serve.certificatePath), .path("serve.tls.key", \.serve.keyPath),
        servePassword, serveToken, serveHosts,
        ScalarSetting(key: "serve.read-only", expected: "true or false") { settings, text, _ in
            let flag = flag(text)
            settings.serve.isReadOnly = flag ?? false
            return flag != nil
        } shown: {
            .flag($0.serve.isReadOnly)
        },
        ScalarSetting(key: "serve.mirror-every", expected: "a time such as 6h, from 1m on") { settings, text, _ in
            settings.serve.mirrorInterval = ServeSettings.mirrorInterval(text)
            return text.isEmpty || settings.serve.mirrorInterval != nil
        } shown: {
            $0.serve.mirrorInterval.map { .number($0) } ?? .text("")
        },
        ScalarSetting(key: "ca-file", expected: "the path of a file") { settings, text, base in
            guard !text.isEmpty else {
                settings.authorities = nil
                return true
            }
            guard let path = base.absolutePath(text) else { return false }
            settings.authorities = try usable("the ca-file") { () throws(SettingFile.Unusable) in
                try SettingFile.authorities(at: path)
            }
            return true
        } shown: {
            .text($0.authorities?.path ?? "")
        },
        ScalarSetting(key: "netrc", expected: "the path of a file, or none") { settings, text, base in
            switch text {
            case "": settings.netrcChoice = .standard
            case "none": settings.netrcChoice = .nowhere
            default:
                guard let path = base.absolutePath(text) else { return false }
                let file = try usable("the netrc file") { () throws(SettingFile.Unusable) in
                    try SettingFile.netrc(at: path)
                }
                settings.netrcChoice = .file(file)
            }
            return true
        } shown: {
            switch $0.netrcChoice {
            case .standard: .text("")
            case .nowhere: .text("none")
            case .file(let file): .text(file.path)
            }
        },
    ]

    /// What the body reads.
    /// - Throws: ``Failure`` of kind `configuration`.
    static func usable<Value>(
        _ name: Message, _ read: () throws(SettingFile.Unusable) -> Value
    ) throws -> Value {
        do {
            return try read()
        } catch {
            throw Failure(
                .configuration, disposition: .stop, what: "\(name) cannot be used", why: error.why,
                remedy: "correct the path, or the file and who may read it")
        }
    }

    private static func number(
        _ key: String, _ path: any WritableKeyPath<Configuration, Int> & Sendable, in range: ClosedRange<Int>
    ) -> ScalarSetting {
        ScalarSetting(key: key, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)") {
            settings, text, _ in
            guard let number = Int(text), range.contains(number) else { return false }
            settings[keyPath: path] = number
            return true
        } shown: {
            .number(Double($0[keyPath: path]))
        }
    }

    private static func bytes(
        _ key: String, _ path: any WritableKeyPath<Configuration, Int64> & Sendable, expected: Message
    ) -> ScalarSetting {
        ScalarSetting(key: key, expected: expected) { settings, text, _ in
            guard let bytes = parseByteCount(text) else { return false }
            settings[keyPath: path] = bytes
            return true
        } shown: {
            .number(Double($0[keyPath: path]))
        }
    }

    private static func seconds(
        _ key: String, _ path: any WritableKeyPath<Configuration, Double> & Sendable
    ) -> ScalarSetting {
        ScalarSetting(key: key, expected: "a time such as 10s, from 100ms to 1d") { settings, text, _ in
            guard let seconds = parseSeconds(text), (0.1...86_400).contains(seconds) else { return false }
            settings[keyPath: path] = seconds
            return true
        } shown: {
            .number($0[keyPath: path])
        }
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ key: String, _ path: any WritableKeyPath<Configuration, Choice> & Sendable
    ) -> ScalarSetting {
        let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        return ScalarSetting(key: key, expected: "one of \(words)") { settings, text, _ in
            guard let choice = Choice(rawValue: text) else { return false }
            settings[keyPath: path] = choice
            return true
        } shown: {
            .text($0[keyPath: path].rawValue)
        }
    }

    private static func address(
        _ key: String, _ path: any WritableKeyPath<Configuration, ResourceAddress> & Sendable
    ) -> ScalarSetting {
        ScalarSetting(key: key, expected: "an http or https address without user, query and fragment") {
            settings, text, _ in
            settings[keyPath: path] = ResourceAddress(text)
            return isServerAddress(text)
        } shown: {
            .text($0[keyPath: path].withoutSecrets)
        }
    }

    private static func choices<Choice: RawRepresentable<String> & CaseIterable & Hashable & Sendable>(
        _ key: String, _ path: any WritableKeyPath<Configuration, [Choice]> & Sendable
    ) -> ScalarSetting {
        let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        return ScalarSetting(key: key, expected: "a list of any of \(words)", isList: true) {
            settings, text, _ in
            let words = text.split { $0 == "," || $0 == " " }.map(String.init)
            let choices = words.compactMap(Choice.init(rawValue:))
            guard choices.count == words.count, Set(choices).count == choices.count else { return false }
            settings[keyPath: path] = choices
            return true
        } shown: {
            .list($0[keyPath: path].map { .text($0.rawValue) })
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
