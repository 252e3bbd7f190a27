import BookModel
import CatalogFetcher
import Foundation
import LibraryFiles
import Transport

extension Configuration {
    /// The settings in effect, for `config show`. Secrets are masked: every query value and header that is not known
    /// to be harmless, the signing secret, the arguments of the notification command and the webhook's path.
    package var effectiveDescription: ShownSetting {
        var entries: [ShownSetting.Entry] = []
        for setting in Self.settings {
            entries.add(setting.shown(self) ?? .text(""), at: setting.key.split(separator: ".").map(String.init)[...])
        }
        let shownLibraries = configuredLibraries.map { ShownSetting.Entry($0.name, .text($0.path)) }
        entries.insert(.init("libraries", .named(shownLibraries)), at: 1)
        let shownSources = sources.values.sorted { $0.name < $1.name }
        entries.append(.init("sources", .named(shownSources.map { .init($0.name, $0.shown) })))
        entries.append(.init("subscriptions", .list(subscriptions.map(\.shown))))
        return .settings(entries)
    }
}

extension [ShownSetting.Entry] {
    /// Adds a setting below the groups that it is in; those of a group follow each other.
    fileprivate mutating func add(_ value: ShownSetting, at path: ArraySlice<String>) {
        guard let key = path.first else { return }
        let below = path.dropFirst()
        guard !below.isEmpty else { return append(.init(key, value)) }
        var group: [ShownSetting.Entry] = []
        if let last, last.key == key, case .settings(let known) = last.value {
            group = known
            removeLast()
        }
        group.add(value, at: below)
        append(.init(key, .settings(group)))
    }
}

extension SourceConfiguration {
    fileprivate var shown: ShownSetting {
        var entries = Self.settings.shown(of: self)
        if !unsetVariables.isEmpty {
            entries.append(.init("unset-variables", .list(unsetVariables.map { .text($0.name) })))
        }
        return .settings(entries)
    }
}

extension SubscriptionSetting {
    fileprivate var shown: ShownSetting { .settings(Self.settings.shown(of: self)) }
}

extension Array {
    fileprivate func shown<Owner>(of owner: Owner) -> [ShownSetting.Entry] where Element == Setting<Owner> {
        compactMap { setting in setting.shown(owner).map { ShownSetting.Entry(setting.key, $0) } }
    }
}

/// What may be shown of values that may hold secrets: only what is known to be harmless.
package enum Masking {
    private static let harmlessParameters: Set<String> = ["nwt", "q", "sorttype", "pagesize", "extended", "format"]
    private static let harmlessHeaders: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "clientversion", "content-type", "origin",
        "referer", "user-agent", "x-requested-with",
    ]

    static func isSecret(query field: SourceConfiguration.Field) -> Bool {
        let value = field.value.secretText
        let isShort = value.count <= 8 && value.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        return !harmlessParameters.contains(field.name.lowercased()) || !isShort
    }

    static func isSecret(header field: SourceConfiguration.Field) -> Bool {
        let value = field.value.secretText
        let hasSecret = value.hasPrefix("http") && ResourceAddress(value).holdsSecrets
        return hasSecret || !harmlessHeaders.contains(field.name.lowercased())
    }

    /// - Returns: nil where there are none.
    static func shown(
        _ fields: [SourceConfiguration.Field], unless isSecret: (SourceConfiguration.Field) -> Bool = isSecret(header:)
    ) -> ShownSetting? {
        guard !fields.isEmpty else { return nil }
        return .named(
            fields.map { field in
                .init(field.name, .text(isSecret(field) ? field.value.description : field.value.secretText))
            })
    }

    /// The command's name without its arguments.
    package static func command(_ command: Secret?) -> String {
        guard let command else { return "" }
        let words = command.secretText.split(whereSeparator: \.isWhitespace)
        guard let first = words.first, !first.contains("="), !first.contains("://") else { return command.description }
        return words.count == 1 ? String(first) : "\(first) \(command.description)"
    }

    /// The host: paths of webhooks are credentials.
    package static func webhook(_ address: Secret?) -> String {
        guard let address else { return "" }
        let shown = ResourceAddress(address.secretText).withoutSecrets
        guard let scheme = shown.range(of: "://") else { return address.description }
        let host = shown[scheme.upperBound...].prefix { !"/?".contains($0) }
        return "\(shown[..<scheme.upperBound])\(host)/\(address)"
    }
}
