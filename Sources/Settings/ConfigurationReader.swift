import BookModel
import CatalogFetcher

/// Makes a ``Configuration`` of the nodes of a file. Every refusal names the file, the line and what was expected. What is
/// wrong with one setting is noted, and the next one read.
struct ConfigurationReader {
    /// The name to show.
    let file: String
    let environment: [String: String]
    let base: PathBase
    let findings: ConfigurationFindings
    private(set) var configuration: Configuration
    /// Where `default-source` was set; nil when it was not.
    private(set) var defaultSourceLine: Int?
    /// Of each subscription.
    private(set) var subscriptionLines: [Int] = []

    mutating func read(_ root: SettingNode) throws {
        let groups = Set(
            Configuration.settings.flatMap { setting in
                setting.key.indices.filter { setting.key[$0] == "." }.map { String(setting.key[..<$0]) }
            })
        for entry in try map(root, of: "the configuration") {
            try findings.attempt { try read(entry, groups: groups) }
        }
    }

    private mutating func read(_ entry: SettingNode.Entry, groups: Set<String>) throws {
        switch entry.key {
        case "sources":
            for source in try map(entry.value, of: "sources") {
                // One that cannot be read is there all the same for what names it.
                configuration.sources[source.key] = SourceConfiguration(name: source.key, kind: .feed)
                try findings.attempt { configuration.sources[source.key] = try readSource(source) }
            }
        case "libraries": configuration.configuredLibraries = try readLibraries(entry)
        case "subscriptions":
            var subscriptions: [SubscriptionSetting] = []
            for (index, item) in try list(entry.value, of: "subscriptions").enumerated() {
                try findings.attempt {
                    subscriptions.append(try readSubscription(item, at: "subscriptions[\(index)]"))
                    subscriptionLines.append(item.line)
                }
            }
            configuration.subscriptions = subscriptions
        default: try read(entry, in: nil, groups: groups)
        }
    }

    /// - Parameter group: that the entry stands in; nil for the file itself.
    private mutating func read(_ entry: SettingNode.Entry, in group: String?, groups: Set<String>) throws {
        let key = (group.map { $0 + "." } ?? "") + entry.key
        guard groups.contains(key) else { return try readScalar(entry, key: key, in: group) }
        let children = try map(entry.value, of: key)
        try refuseTwins(children)
        for child in children { try findings.attempt { try read(child, in: key, groups: groups) } }
    }

    /// The keys that each map knows; `nil` is the file itself.
    static func knownKeys(in keyPath: String?) -> [String] {
        switch keyPath {
        case "sources.*": SourceConfiguration.settings.flatMap(\.keys)
        case "sources.*.signature": signatureKeys
        case "subscriptions": SubscriptionSetting.settings.flatMap(\.keys)
        case let group?:
            Configuration.settings.filter { $0.key.hasPrefix(group + ".") }.flatMap { setting in
                let rest = setting.key.dropFirst(group.count + 1)
                let key = String(rest.prefix { $0 != "." })
                // A file instead of a secret stands beside the secret, not beside the group that holds it.
                return setting.isSecret && key == rest ? [key, key + Self.fileSuffix] : [key]
            }
        case nil:
            ["sources", "subscriptions", "libraries"]
                + Configuration.settings.map { String($0.key.prefix { $0 != "." }) }
        }
    }

    private mutating func readScalar(_ entry: SettingNode.Entry, key: String, in group: String?) throws {
        if let secret = ownKey(ofFileKey: key).flatMap(Configuration.settings.named), secret.isSecret {
            return try readSecretFile(entry, secret)
        }
        guard let setting = Configuration.settings.named(key) else { throw unknown(entry, in: group) }
        let raw = setting.isList ? try listText(entry) : try text(entry)
        let value = try expanded(raw, line: entry.line)
        configuration = try applying(setting, value, to: configuration, line: entry.line, shownAs: raw)
        if key == "default-source" { defaultSourceLine = entry.line }
        record(key, line: entry.line)
        // A command's arguments seldom are one.
        if setting.isSecret, key != "notify.exec" { recordSecret(raw, key, line: entry.line) }
    }

    private mutating func readSecretFile(_ entry: SettingNode.Entry, _ setting: Setting<Configuration>) throws {
        let path = try expanded(try text(entry), line: entry.line)
        let (value, absolute) = try secret(at: path, entry)
        configuration = try applying(setting, value, to: configuration, line: entry.line, shownAs: "")
        record(setting.key, line: entry.line, contentsOf: absolute)
    }

    /// Reads a setting of a source or a subscription.
    ///
    /// - Parameters:
    ///   - keyPath: of the source or the subscription: `sources.kting`.
    ///   - map: what ``knownKeys(in:)`` calls the settings.
    func read<Owner>(
        _ entry: SettingNode.Entry, in keyPath: String, into owner: inout Owner, among settings: [Setting<Owner>],
        of map: String
    ) throws {
        record("\(keyPath).\(entry.key)", line: entry.line)
        guard let setting = settings.first(where: { $0.keys.contains(entry.key) }) else {
            throw unknown(entry, in: map)
        }
        if let read = setting.read { return try read(&owner, self, entry, keyPath) }
        let raw = try text(entry)
        owner = try applying(
            setting, try expanded(raw, line: entry.line), to: owner, line: entry.line, shownAs: raw)
    }

    private func applying<Owner>(
        _ setting: Setting<Owner>, _ value: String, to owner: Owner, line: Int, shownAs raw: String
    ) throws -> Owner {
        var changed = owner
        // Quoted as it stands in the file, where variables are still names.
        guard try asFault(line: line, { try setting.apply(&changed, value, base) }) else {
            throw refusal(line, setting.key, expected: setting.expected, found: setting.isSecret ? nil : raw)
        }
        return changed
    }

    /// What the command line would refuse is refused here in the same words, as a fault of the file.
    func asFault<Value>(line: Int, _ read: () throws -> Value) throws -> Value {
        do {
            return try read()
        } catch let failure as Failure {
            throw Failure(
                .configuration, disposition: .stop, what: "\(file), line \(line): \(failure.what)",
                why: failure.why, remedy: failure.remedy)
        }
    }

    // MARK: What nodes are

    func map(_ node: SettingNode, of name: String) throws -> [SettingNode.Entry] {
        switch node.content {
        case .map(let entries): return entries
        case .nothing: return []
        case .text, .list: throw refusal(node.line, name, expected: "keys with values below it")
        }
    }

    func list(_ node: SettingNode, of name: String) throws -> [SettingNode] {
        switch node.content {
        case .list(let items): return items
        case .nothing: return []
        case .text, .map: throw refusal(node.line, name, expected: "a list (lines that begin with '- ')")
        }
    }

    /// The text as written; empty where there is none.
    func text(_ entry: SettingNode.Entry) throws -> String {
        switch entry.value.content {
        case .text(let text): return text
        case .nothing: return ""
        case .list, .map: throw refusal(entry, expected: "one value")
        }
    }

    /// One text of the items of a list, or of what stands in its place, with commas between them.
    private func listText(_ entry: SettingNode.Entry) throws -> String {
        guard case .list(let items) = entry.value.content else { return try text(entry) }
        return try items.map { item in
            guard case .text(let text) = item.content else {
                throw refusal(item.line, entry.key, expected: "words")
            }
            return text
        }.joined(separator: ", ")
    }

    /// The text with its variables, all of which must be set.
    func expanded(_ text: String, line: Int) throws -> String {
        let (value, unset) = VariableExpansion.expand(text, environment: environment)
        guard let name = unset.first else { return value }
        throw Failure(
            .configuration, disposition: .stop, what: "\(file), line \(line): a value is missing",
            why: "the environment has no variable \(name)", remedy: "set \(name), or write the value in its place")
    }

    // MARK: Refusals

    func unknown(_ entry: SettingNode.Entry, in keyPath: String?) -> Failure {
        let keys = Self.knownKeys(in: keyPath)
        let known = keys.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        let remedy: Message =
            nearest(to: entry.key, among: keys).map { "did you mean '\($0)'?" }
            ?? "known here: \(known.joined(separator: ", "))"
        let reason: Message =
            keyPath.map { "'\($0.replacing(".*", with: ""))' knows no such key" } ?? "there is no such setting"
        return Failure(
            .configuration, disposition: .stop, what: "\(file), line \(entry.line): unknown key '\(entry.key)'",
            why: reason, remedy: remedy)
    }

    func refusal(_ entry: SettingNode.Entry, expected: Message, found: String? = nil) -> Failure {
        refusal(entry.line, entry.key, expected: expected, found: found)
    }

    func refusal(_ line: Int, _ key: String, expected: Message, found: String? = nil) -> Failure {
        Failure(
            .configuration, disposition: .stop, what: "\(file), line \(line): '\(key)' has a value that does not fit",
            why: "expected \(expected)" + (found.map { $0.isEmpty ? ", found nothing" : ", found '\($0)'" } ?? ""))
    }
}
