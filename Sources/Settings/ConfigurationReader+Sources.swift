import BookModel
import CatalogFetcher
import Transport

extension ConfigurationReader {
    static let sourceKeys =
        [
            "type", "url", "url-file", "detail-url", "search-url", "archive-url", "query", "signature", "headers",
            "user-agent", "https-downgrade", "page-size",
            "allow-private-addresses", "limit-rate", "proxy", "proxy-file", "ca-file", "cookies", "formats", "depth",
            "naming", "keep", "max-size", "on-catalog-change",
        ] + authorizationKeys
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
            try findings.attempt { try read(setting, in: keyPath, into: &source) }
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

    private func read(
        _ setting: SettingNode.Entry, in keyPath: String, into source: inout SourceConfiguration
    ) throws {
        record("\(keyPath).\(setting.key)", line: setting.line)
        switch setting.key {
        case "type": break
        case "url", "url-file": source.url = try readAddress(setting, in: keyPath, &source)
        case "detail-url": source.detailURL = try readAddress(setting, in: keyPath, &source)
        case "search-url":
            source.searchURL = try readAddress(setting, in: keyPath, &source)
            guard source.searchURL?.secretText.contains("{query}") != false else {
                throw refusal(setting, expected: "an address with {query} where the text goes")
            }
        case "archive-url": source.archiveURL = try readAddress(setting, in: keyPath, &source)
        case "query": source.query = try readFields(setting, in: keyPath, &source, isSecret: Masking.isSecret(query:))
        case "headers", "user-agent":
            let fields = try readHeaders(setting, in: keyPath, &source)
            source.headers += fields
        case "https-downgrade": source.downgrade = try readChoice(setting)
        case "signature": source.signature = try readSignature(setting, in: keyPath, &source)
        case "page-size": source.pageSize = try readNumber(setting, in: 1...1000)
        case "depth": source.depth = try readNumber(setting, in: 1...8)
        case "allow-private-addresses":
            source.allowsPrivateAddresses = try value(of: setting, expected: "true or false") {
                ScalarSetting.flag($0.lowercased())
            }
        case "limit-rate":
            source.limitRate = try value(of: setting, expected: "bytes a second such as 2M, or 0 for no limit") {
                parseByteCount($0)
            }
        case "keep", "max-size": try readKeep(setting, into: &source.keep)
        case "on-catalog-change": source.onCatalogChange = try readChoice(setting)
        case "proxy", "proxy-file": source.proxy = try readProxy(setting, in: keyPath, &source)
        case "ca-file":
            source.authorities = try readFile(setting, in: keyPath, &source, SettingFile.authorities)
        case "cookies":
            source.cookies = try readFile(setting, in: keyPath, &source, SettingFile.cookies)
            if let path = source.cookies?.path { findings.secretFiles.append(path) }
        case let key where Self.authorizationKeys.contains(key): break
        case "naming": source.naming = try readNaming(setting)
        case "formats":
            source.formats = try list(setting.value, of: "formats").map { item in
                guard case .text(let text) = item.content, !text.isEmpty else {
                    throw refusal(item.line, "formats", expected: "names of formats")
                }
                return try expanded(text, line: item.line)
            }
        default: throw unknown(setting, in: "sources.*")
        }
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

    private func readAddress(
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

    private func readProxy(
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

    private func readFields(
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

    private func readHeaders(
        _ entry: SettingNode.Entry, in keyPath: String, _ source: inout SourceConfiguration
    ) throws -> [SourceConfiguration.Field] {
        let isUserAgent = entry.key == "user-agent"
        let entries = isUserAgent ? [entry] : try map(entry.value, of: entry.key)
        let fields =
            isUserAgent
            ? [
                .init(
                    name: "User-Agent", value: Secret(try readSecret(entry, in: keyPath, &source) { _ in false }.value))
            ]
            : try readFields(entry, in: keyPath, &source, isSecret: Masking.isSecret(header:))
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

    private func readSignature(
        _ entry: SettingNode.Entry, in keyPath: String, _ source: inout SourceConfiguration
    ) throws -> SourceConfiguration.Signature? {
        let entries = try map(entry.value, of: entry.key)
        if entries.isEmpty { return nil }
        try refuseTwins(entries)
        var signature = SourceConfiguration.Signature(parameter: "sc", secret: Secret(""))
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
                guard let algorithm = SourceConfiguration.Signature.Algorithm(rawValue: value) else {
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

    private func readNumber(_ entry: SettingNode.Entry, in range: ClosedRange<Int>) throws -> Int {
        try value(of: entry, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)") {
            Int($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}
