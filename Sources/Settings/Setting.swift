import BookModel
import CatalogFetcher
import LibraryFiles

/// A setting of the whole configuration, of a source or of a subscription: how it is read, and how it is shown.
struct Setting<Owner: Sendable>: Sendable {
    typealias Path<Value> = any WritableKeyPath<Owner, Value> & Sendable
    typealias Read =
        @Sendable (inout Owner, ConfigurationReader, SettingNode.Entry, _ keyPath: String) throws -> Void

    /// As in the file, with its group: `downloads.jobs`.
    let key: String
    /// Completes "expected …".
    var expected: Message = ""
    /// Whether a wrong value may not be quoted in an error, and whether the value may be in a file of its own, which `key-file` names.
    var isSecret = false
    /// Whether the file may have a list; its items come as one text, with commas between them, as the environment has
    /// them.
    var isList = false
    /// The types of source that the setting means something to; nil for all.
    var kinds: [SourceKind]?
    /// - Returns: whether the text was such a value.
    /// - Throws: ``Failure`` where there is more to say.
    var apply: @Sendable (inout Owner, _ text: String, PathBase) throws -> Bool = { _, _, _ in false }
    /// Reads what is more than one text; nil where ``apply`` takes it.
    var read: Read?
    /// - Returns: nil for what is not shown as long as it is not set.
    let shown: @Sendable (Owner) -> ShownSetting?

    var keys: [String] { isSecret ? [key, key + ConfigurationReader.fileSuffix] : [key] }
}

extension Setting {
    /// - Parameters:
    ///   - parse: returns nil if the text is not such a value.
    ///   - shown: see ``ShownSetting/init(_:)`` for the default.
    static func value<Value>(
        _ key: String, _ path: Path<Value>, expected: Message, isSecret: Bool = false, isList: Bool = false,
        parse: @escaping @Sendable (_ text: String, PathBase) throws -> Value?,
        shown: @escaping @Sendable (Value) -> ShownSetting? = { ShownSetting($0) }
    ) -> Setting {
        Setting(key: key, expected: expected, isSecret: isSecret, isList: isList) { owner, text, base in
            guard let value = try parse(text, base) else { return false }
            owner[keyPath: path] = value
            return true
        } shown: {
            shown($0[keyPath: path])
        }
    }

    /// One that may have no value, which is an empty text.
    /// - Parameter expected: can be left out where `parse` takes any text, or throws.
    static func optional<Value>(
        _ key: String, _ path: Path<Value?>, expected: Message = "", isSecret: Bool = false,
        parse: @escaping @Sendable (_ text: String, PathBase) throws -> Value?,
        shown: @escaping @Sendable (Value) -> ShownSetting = { ShownSetting($0) }
    ) -> Setting {
        value(key, path, expected: expected, isSecret: isSecret) { text, base in
            text.isEmpty ? .some(nil) : try parse(text, base).map(Optional.some)
        } shown: {
            $0.map(shown)
        }
    }

    /// One that has a value wherever it is written.
    static func stated<Value>(
        _ key: String, _ path: Path<Value?>, expected: Message = "", for kinds: [SourceKind]? = nil,
        parse: @escaping @Sendable (_ text: String) throws -> Value?
    ) -> Setting {
        var setting = value(key, path, expected: expected) { text, _ in
            try parse(text).map(Optional.some)
        } shown: {
            $0.map { ShownSetting($0) }
        }
        setting.kinds = kinds
        return setting
    }

    static func number(_ key: String, _ path: Path<Int>, in range: ClosedRange<Int>) -> Setting {
        value(key, path, expected: wholeNumber(in: range)) { text, _ in number(text, in: range) }
    }

    static func number(
        _ key: String, _ path: Path<Int?>, in range: ClosedRange<Int>, for kinds: [SourceKind]
    ) -> Setting {
        stated(key, path, expected: wholeNumber(in: range), for: kinds) { number($0, in: range) }
    }

    private static func wholeNumber(in range: ClosedRange<Int>) -> Message {
        "a whole number from \(range.lowerBound) to \(range.upperBound)"
    }

    private static func number(_ text: String, in range: ClosedRange<Int>) -> Int? {
        Int(text).flatMap { range.contains($0) ? $0 : nil }
    }

    static func count(_ key: String, _ path: Path<Int?>) -> Setting {
        stated(key, path, expected: "a whole number from 1 on") { Int($0).flatMap { $0 > 0 ? $0 : nil } }
    }

    static func pattern(_ key: String, _ path: Path<String?>) -> Setting {
        optional(key, path, expected: "a regular expression") { text, _ in (try? Regex(text)).map { _ in text } }
    }

    static func bytes(
        _ key: String, _ path: Path<Int64>, expected: Message,
        shown: @escaping @Sendable (Int64) -> ShownSetting? = { ShownSetting($0) }
    ) -> Setting {
        value(key, path, expected: expected, parse: { text, _ in parseByteCount(text) }, shown: shown)
    }

    static func seconds(_ key: String, _ path: Path<Double>) -> Setting {
        value(key, path, expected: "a time such as 10s, from 100ms to 1d") { text, _ in
            parseSeconds(text).flatMap { (0.1...86_400).contains($0) ? $0 : nil }
        }
    }

    static func address(_ key: String, _ path: Path<ResourceAddress>) -> Setting {
        value(key, path, expected: serverAddress) { text, _ in isServerAddress(text) ? ResourceAddress(text) : nil }
    }

    static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ key: String, _ path: Path<Choice>, shown: @escaping @Sendable (Choice) -> ShownSetting? = { ShownSetting($0) }
    ) -> Setting {
        value(key, path, expected: oneOf(Choice.self), parse: { text, _ in Choice(rawValue: text) }, shown: shown)
    }

    static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ key: String, _ path: Path<Choice?>
    ) -> Setting {
        stated(key, path, expected: oneOf(Choice.self)) { Choice(rawValue: $0) }
    }

    private static func oneOf<Choice: RawRepresentable<String> & CaseIterable>(_: Choice.Type) -> Message {
        "one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))"
    }

    static func choices<Choice: RawRepresentable<String> & CaseIterable & Hashable & Sendable>(
        _ key: String, _ path: Path<[Choice]>
    ) -> Setting {
        let all = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        return value(key, path, expected: "a list of any of \(all)", isList: true) { text, _ in
            let given = words(of: text)
            let choices = given.compactMap(Choice.init(rawValue:))
            return choices.count == given.count && Set(choices).count == choices.count ? choices : nil
        }
    }

    /// One rule with ``maxSize(_:)``.
    static func keep(_ path: Path<KeepRule?>) -> Setting {
        Setting(key: "keep") { owner, text, _ in
            owner[keyPath: path] = try KeepRule(parsing: text, maxBytes: owner[keyPath: path]?.maxBytes)
            return true
        } shown: {
            $0[keyPath: path]?.text.map(ShownSetting.text)
        }
    }

    static func maxSize(_ path: Path<KeepRule?>) -> Setting {
        Setting(key: "max-size", expected: "bytes such as 500M or 2G") { owner, text, _ in
            guard let bytes = positiveByteCount(text) else { return false }
            var rule = owner[keyPath: path] ?? KeepRule()
            rule.maxBytes = bytes
            owner[keyPath: path] = rule
            return true
        } shown: {
            $0[keyPath: path]?.maxBytes.map { ShownSetting($0) }
        }
    }

    static func naming(_ path: Path<NamingTemplate?>) -> Setting {
        optional("naming", path, expected: "a template") { text, _ in try NamingTemplate(parsing: text) }
    }

    /// One that is more than one text.
    static func entry(
        _ key: String, for kinds: [SourceKind]? = nil, isSecret: Bool = false,
        shown: @escaping @Sendable (Owner) -> ShownSetting? = { _ in nil }, read: @escaping Read
    ) -> Setting {
        Setting(key: key, isSecret: isSecret, kinds: kinds, read: read, shown: shown)
    }

    /// One that is read before the others, or once all are known.
    static func readElsewhere(
        _ key: String, isSecret: Bool = false, shown: @escaping @Sendable (Owner) -> ShownSetting?
    ) -> Setting {
        entry(key, isSecret: isSecret, shown: shown) { _, _, _, _ in }
    }
}

extension Setting<Configuration> {
    /// `BOOKSYNC_JOBS`; the group `downloads` is left out.
    var environmentName: String {
        if key == "language" { return Language.variable }
        let name = key.hasPrefix("downloads.") ? String(key.dropFirst("downloads.".count)) : key
        return "BOOKSYNC_" + String(name.map { $0 == "-" || $0 == "." ? "_" : $0 }).uppercased()
    }
}

extension [Setting<Configuration>] {
    func named(_ key: String) -> Setting<Configuration>? { first { $0.key == key } }
}

extension Configuration {
    /// In the order in which they are shown.
    static let settings: [Setting<Configuration>] = [
        .value("library", \.library, expected: "the path of a folder") { $1.absolutePath($0) },
        .optional("store", \.storeFolder, expected: "the path of a folder") { $1.absolutePath($0) },
        .optional("default-source", \.defaultSource, expected: "the name of a source") { text, _ in text },
        .value("naming", \.naming, expected: "a template") { text, _ in try NamingTemplate(parsing: text) },
        .optional("language", \.language, expected: "en or zh") { text, _ in
            Language(rawValue: text)
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
        },
        .value("serve.read-only", \.serve.isReadOnly, expected: "true or false") { text, _ in
            flag(text)
        },
        .optional("serve.mirror-every", \.serve.mirrorInterval, expected: "a time such as 6h, from 1m on") { text, _ in
            ServeSettings.mirrorInterval(text)
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
}

/// Bytes, at least one.
func positiveByteCount(_ text: String) -> Int64? { parseByteCount(text).flatMap { $0 > 0 ? $0 : nil } }

private func words(of text: String) -> [String] {
    text.split { $0 == "," || $0 == " " }.map(String.init)
}

private let serverAddress: Message = "an http or https address without user, query and fragment"

/// - Throws: ``Failure`` of kind `configuration`.
private func usable<Content>(
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

/// - Returns: nil when the text, in lower case, says neither.
func flag(_ text: String) -> Bool? {
    switch text {
    case "true", "yes", "on": true
    case "false", "no", "off": false
    default: nil
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
