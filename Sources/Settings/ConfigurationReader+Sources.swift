import BookModel
import CatalogFetcher
import Transport

extension SourceConfiguration {
    /// In the order in which they are shown.
    static let settings: [Setting<SourceConfiguration>] = [
        .readElsewhere("type") { .text($0.kind.rawValue) },
        .address("url", \.url, isSecret: true),
        .address("detail-url", \.detailURL, for: [.bookResource]),
        .address("search-url", \.searchURL, for: [.bookResource]) { $0.contains("{query}") },
        .address("archive-url", \.archiveURL, for: [.librivox]),
        .entry("query", shown: \.shownQuery) {
            $0.query = try $1.readFields($2, in: $3, &$0, isSecret: Masking.isSecret(query:))
        },
        .entry("signature", for: [.bookResource], shown: \.signature?.shown) {
            $0.signature = try $1.readSignature($2, in: $3, &$0)
        },
        .entry("headers", shown: \.shownHeaders) {
            $0.headers += try $1.readHeaders($2, in: $3, &$0)
        },
        .entry("user-agent") { $0.headers += try $1.readHeaders($2, in: $3, &$0) },
        .choice("https-downgrade", \.downgrade) { $0 == .withoutCredentials ? nil : ShownSetting($0) },
        .number("page-size", \.pageSize, in: 1...1000, for: [.bookResource]),
        .value("allow-private-addresses", \.allowsPrivateAddresses, expected: "true or false") { text, _ in
            flag(text.lowercased())
        },
        .bytes("limit-rate", \.limitRate, expected: "bytes a second such as 2M, or 0 for no limit") {
            $0 > 0 ? ShownSetting($0) : nil
        },
        .keep(\.keep), .maxSize(\.keep), .choice("on-catalog-change", \.onCatalogChange),
        .entry("proxy", isSecret: true, shown: \.proxy.shown) { $0.proxy = try $1.readProxy($2, in: $3, &$0) },
        .readElsewhere("user", isSecret: true) { $0.authorization?.shown["user"] },
        .readElsewhere("password", isSecret: true) { $0.authorization?.shown["password"] },
        .readElsewhere("bearer", isSecret: true) { $0.authorization?.shown["bearer"] },
        .entry("cookies", shown: \.cookies?.shown) {
            $0.cookies = try $1.readFile($2, in: $3, &$0, SettingFile.cookies)
            if let path = $0.cookies?.path { $1.findings.secretFiles.append(path) }
        },
        .entry("ca-file", shown: \.authorities?.shown) {
            $0.authorities = try $1.readFile($2, in: $3, &$0, SettingFile.authorities)
        },
        .entry("formats", for: [.internetArchive, .librivox], shown: \.shownFormats) { source, reader, entry, _ in
            source.formats = try reader.list(entry.value, of: "formats").map { item in
                guard case .text(let text) = item.content, !text.isEmpty else {
                    throw reader.refusal(item.line, "formats", expected: "names of formats")
                }
                return try reader.expanded(text, line: item.line)
            }
        },
        .number("depth", \.depth, in: 1...8, for: [.directory]),
        .naming(\.naming),
    ]

    private var shownQuery: ShownSetting? { Masking.shown(query, unless: Masking.isSecret(query:)) }
    private var shownHeaders: ShownSetting? { Masking.shown(headers) }
    private var shownFormats: ShownSetting? { formats.isEmpty ? nil : ShownSetting(formats) }
}

extension NamedFile {
    fileprivate var shown: ShownSetting { .text(path) }
}

extension Setting<SourceConfiguration> {
    /// - Parameter fits: whether an address is one of those that are expected.
    fileprivate static func address(
        _ key: String, _ path: Path<ResourceAddress?>, for kinds: [SourceKind]? = nil, isSecret: Bool = false,
        where fits: @escaping @Sendable (String) -> Bool = { _ in true }
    ) -> Setting {
        .entry(key, for: kinds, isSecret: isSecret) {
            $0[keyPath: path].map { ShownSetting($0) }
        } read: {
            let address = try $1.readAddress($2, in: $3, &$0)
            $0[keyPath: path] = address
            guard address.map({ fits($0.secretText) }) != false else {
                throw $1.refusal($2, expected: "an address with {query} where the text goes")
            }
        }
    }
}

extension BookResourceSettings.Signature {
    fileprivate var shown: ShownSetting {
        .settings([
            .init("parameter", .text(parameter)), .init("algorithm", .text(algorithm.rawValue)),
            .init("secret", .text(secret.description)),
        ])
    }
}

extension ProxyChoice {
    fileprivate var shown: ShownSetting? {
        switch self {
        case .environment: nil
        case .direct: .text("none")
        case .through(let proxy): .text(proxy.description)
        }
    }
}

extension Authorization {
    /// By the keys that it is made of.
    fileprivate var shown: [String: ShownSetting] {
        switch self {
        case .basic(let user, let password): ["user": ShownSetting(user), "password": ShownSetting(password)]
        case .bearer(let token): ["bearer": ShownSetting(token)]
        }
    }
}

extension ConfigurationReader {
    static let signatureKeys = ["parameter", "algorithm", "secret", "secret-file"]

    func readSource(_ entry: SettingNode.Entry) throws -> SourceConfiguration {
        guard isSourceName(entry.key) else {
            throw refusal(entry, expected: "a source's name of letters, digits, '-', '_' and '.'")
        }
        let entries = try map(entry.value, of: entry.key)
        guard let type = entries.first(where: { $0.key == "type" }) else {
            let kinds = SourceKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw refusal(entry, expected: "a 'type' (one of \(kinds))")
        }
        var source = SourceConfiguration(name: entry.key, kind: try readKind(type))
        let keyPath = "sources.\(entry.key)"
        try refuseTwins(entries)
        let known = findings.faults.count
        for setting in entries {
            try findings.attempt {
                try read(setting, in: keyPath, into: &source, among: SourceConfiguration.settings, of: "sources.*")
            }
        }
        // What is missing may only be wrong.
        guard findings.faults.count == known else { return source }
        source.authorization = try readAuthorization(entries, in: keyPath, &source)
        // A file that could not be read is told of once the source is asked.
        if source.kind.needsAddress, source.url == nil, source.shortcomings.isEmpty {
            throw refusal(entry, expected: "a 'url' for a source of type \(source.kind.rawValue)")
        }
        try refuseForeignKeys(entries, of: source)
        try requireServer(for: entries, of: source)
        if !source.unsetVariables.isEmpty { record("\(keyPath).unset-variables", line: entry.line) }
        return source
    }

    /// Colon and slash separate in a REF.
    func isSourceName(_ name: String) -> Bool {
        !name.isEmpty && name.allSatisfy { $0.isLetter || $0.isNumber || "-_.".contains($0) }
    }

    private func readKind(_ entry: SettingNode.Entry) throws -> SourceKind {
        let text = try expanded(try text(entry), line: entry.line)
        if let kind = SourceKind(rawValue: text) { return kind }
        let kinds = SourceKind.allCases.map(\.rawValue)
        let hint: Message = nearest(to: text, among: kinds).map { " (did you mean \($0)?)" } ?? ""
        throw refusal(
            entry, expected: "one of \(kinds.joined(separator: ", "))\(hint)", found: try self.text(entry))
    }

    /// Records variables that are not set instead of refusing them; see ``SourceConfiguration/requireVariables()``.
    func lenient(_ text: String, line: Int, _ source: inout SourceConfiguration) -> String {
        let (value, unset) = VariableExpansion.expand(text, environment: environment)
        source.unsetVariables += unset.map { .init(name: $0, file: file, line: line) }
        return value
    }

    fileprivate func readAddress(
        _ entry: SettingNode.Entry, in keyPath: String, _ source: inout SourceConfiguration
    ) throws -> ResourceAddress? {
        let known = source.unsetVariables.count
        let value = try readSecret(entry, in: keyPath, &source) { ResourceAddress($0).holdsSecrets }.value
        if value.isEmpty { return nil }
        guard isWebAddress(value) || source.unsetVariables.count > known else {
            throw refusal(entry, expected: "an http or https address")
        }
        return ResourceAddress(value)
    }

    fileprivate func readProxy(
        _ entry: SettingNode.Entry, in keyPath: String, _ source: inout SourceConfiguration
    ) throws -> ProxyChoice {
        let known = source.unsetVariables.count
        let value = try readSecret(entry, in: keyPath, &source) { $0.contains("@") }.value
        switch value {
        case "": return .environment
        case "none": return .direct
        default: break
        }
        // What is not set yet may hold anything; the source is not asked before it is.
        if source.unsetVariables.count > known { return .environment }
        do {
            return .through(try ProxyAddress(parsing: value))
        } catch {
            throw refusal(entry, expected: "'none' or a proxy such as http://host:3128 (\(error.why))")
        }
    }

    fileprivate func readFields(
        _ entry: SettingNode.Entry, in keyPath: String, _ source: inout SourceConfiguration,
        isSecret: (SourceConfiguration.Field) -> Bool
    ) throws -> [SourceConfiguration.Field] {
        let entries = try map(entry.value, of: entry.key)
        try refuseTwins(entries)
        return try entries.map { field in
            let (name, value) = try readSecret(field, in: "\(keyPath).\(entry.key)", &source) { value in
                isSecret(.init(name: field.key, value: Secret(value)))
            }
            return .init(name: name, value: Secret(value))
        }
    }

    /// The headers of a subscription; what is missing is an error at once.
    func readHeaders(_ entry: SettingNode.Entry, in keyPath: String) throws -> [SourceConfiguration.Field] {
        var source = SourceConfiguration(name: keyPath, kind: .feed)
        let fields = try readHeaders(entry, in: keyPath, &source)
        try source.requireVariables()
        return fields
    }

    fileprivate func readHeaders(
        _ entry: SettingNode.Entry, in keyPath: String, _ source: inout SourceConfiguration
    ) throws -> [SourceConfiguration.Field] {
        let entries: [SettingNode.Entry]
        let fields: [SourceConfiguration.Field]
        if entry.key == "user-agent" {
            let value = try readSecret(entry, in: keyPath, &source) { _ in false }.value
            (entries, fields) = ([entry], [.init(name: "User-Agent", value: Secret(value))])
        } else {
            entries = try map(entry.value, of: entry.key)
            fields = try readFields(entry, in: keyPath, &source, isSecret: Masking.isSecret(header:))
        }
        for (field, entry) in zip(fields, entries) {
            // RFC 9110 §5.6.2: anything else would end the header, or begin another one.
            let isToken = field.name.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
            guard isToken, !field.name.isEmpty else {
                throw refusal(entry.line, "headers", expected: "a header's name", found: entry.key)
            }
            guard field.value.secretText.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw refusal(entry, expected: "a value on one line")
            }
        }
        return fields
    }

    fileprivate func readSignature(
        _ entry: SettingNode.Entry, in keyPath: String, _ source: inout SourceConfiguration
    ) throws -> BookResourceSettings.Signature? {
        let entries = try map(entry.value, of: entry.key)
        if entries.isEmpty { return nil }
        try refuseTwins(entries)
        var signature = BookResourceSettings.Signature(secret: Secret(""))
        let known = source.shortcomings.count
        for setting in entries {
            guard Self.signatureKeys.contains(setting.key) else { throw unknown(setting, in: "sources.*.signature") }
            let (key, value) = try readSecret(setting, in: "\(keyPath).signature", &source) { _ in
                setting.key == "secret"
            }
            switch key {
            case "parameter":
                guard !value.isEmpty else {
                    throw refusal(setting.line, "parameter", expected: "a query parameter's name", found: value)
                }
                signature.parameter = value
            case "algorithm":
                guard let algorithm = BookResourceSettings.Signature.Algorithm(rawValue: value) else {
                    throw refusal(setting, expected: Message(verbatim: "md5"), found: try text(setting))
                }
                signature.algorithm = algorithm
            default: signature.secret = Secret(value)
            }
        }
        // A file that could not be read is told of once the source is asked.
        guard !signature.secret.isEmpty || source.shortcomings.count > known else {
            throw refusal(entry, expected: "a 'secret'")
        }
        return signature
    }
}
