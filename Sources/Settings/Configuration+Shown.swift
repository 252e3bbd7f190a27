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
        for setting in ScalarSetting.all {
            entries.add(setting.shown(self), at: setting.key.split(separator: ".").map(String.init)[...])
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
        var entries = [ShownSetting.Entry("type", .text(kind.rawValue))]
        if let url { entries.append(.init("url", .text(url.withoutSecrets))) }
        if let detailURL { entries.append(.init("detail-url", .text(detailURL.withoutSecrets))) }
        if let searchURL { entries.append(.init("search-url", .text(searchURL.withoutSecrets))) }
        if let archiveURL { entries.append(.init("archive-url", .text(archiveURL.withoutSecrets))) }
        if !query.isEmpty {
            entries.append(.init("query", .named(query.map { .init($0.name, .text(Masking.query($0))) })))
        }
        if let signature {
            let shown: [ShownSetting.Entry] = [
                .init("parameter", .text(signature.parameter)),
                .init("algorithm", .text(signature.algorithm.rawValue)),
                .init("secret", .text(signature.secret.description)),
            ]
            entries.append(.init("signature", .settings(shown)))
        }
        entries += Masking.shownEntries(ofHeaders: headers)
        if downgrade != .withoutCredentials { entries.append(.init("https-downgrade", .text(downgrade.rawValue))) }
        if let pageSize { entries.append(.init("page-size", .number(Double(pageSize)))) }
        entries.append(.init("allow-private-addresses", .flag(allowsPrivateAddresses)))
        if limitRate > 0 { entries.append(.init("limit-rate", .number(Double(limitRate)))) }
        entries += keep?.shownEntries ?? []
        if let onCatalogChange { entries.append(.init("on-catalog-change", .text(onCatalogChange.rawValue))) }
        switch proxy {
        case .environment: break
        case .direct: entries.append(.init("proxy", .text("none")))
        case .through(let proxy): entries.append(.init("proxy", .text(proxy.description)))
        }
        switch authorization {
        case .basic(let user, let password):
            entries.append(.init("user", .text(user.description)))
            entries.append(.init("password", .text(password.description)))
        case .bearer(let token): entries.append(.init("bearer", .text(token.description)))
        case nil: break
        }
        if let cookies { entries.append(.init("cookies", .text(cookies.path))) }
        if let authorities { entries.append(.init("ca-file", .text(authorities.path))) }
        if !formats.isEmpty { entries.append(.init("formats", .list(formats.map { .text($0) }))) }
        if let depth { entries.append(.init("depth", .number(Double(depth)))) }
        if let naming { entries.append(.init("naming", .text(naming.description))) }
        if !unsetVariables.isEmpty {
            entries.append(.init("unset-variables", .list(unsetVariables.map { .text($0.name) })))
        }
        return .settings(entries)
    }
}

extension SubscriptionSetting {
    fileprivate var shown: ShownSetting {
        var entries = [ShownSetting.Entry("book", .text(reference.description))]
        if let title { entries.append(.init("title", .text(title))) }
        if let latest = filter.latest { entries.append(.init("latest", .number(Double(latest)))) }
        if let only = filter.only { entries.append(.init("only", .text(only.description))) }
        if let match = filter.match { entries.append(.init("match", .text(match))) }
        if let exclude = filter.exclude { entries.append(.init("exclude", .text(exclude))) }
        if let since = filter.since { entries.append(.init("since", .text(since.description))) }
        entries += Masking.shownEntries(ofHeaders: headers)
        if let order { entries.append(.init("order", .text(order.rawValue))) }
        if let episodes = limits.episodes { entries.append(.init("max-episodes", .number(Double(episodes)))) }
        if let bytes = limits.bytes { entries.append(.init("max-bytes", .number(Double(bytes)))) }
        if let naming { entries.append(.init("naming", .text(naming.description))) }
        entries += keep?.shownEntries ?? []
        if let onCatalogChange { entries.append(.init("on-catalog-change", .text(onCatalogChange.rawValue))) }
        if let language = collection.language { entries.append(.init("language", .text(language))) }
        if let hours = collection.minHours { entries.append(.init("min-hours", .number(hours))) }
        if let books = collection.maxBooks { entries.append(.init("max-books", .number(Double(books)))) }
        if let library { entries.append(.init("library", .text(library))) }
        return .settings(entries)
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

    static func query(_ field: SourceConfiguration.Field) -> String {
        isSecret(query: field) ? field.value.description : field.value.secretText
    }

    static func shownEntries(ofHeaders headers: [SourceConfiguration.Field]) -> [ShownSetting.Entry] {
        guard !headers.isEmpty else { return [] }
        let shown = headers.map { field in
            let value = isSecret(header: field) ? field.value.description : field.value.secretText
            return ShownSetting.Entry(field.name, .text(value))
        }
        return [.init("headers", .named(shown))]
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

extension KeepRule {
    fileprivate var shownEntries: [ShownSetting.Entry] {
        [
            text.map { ShownSetting.Entry("keep", .text($0)) },
            maxBytes.map { ShownSetting.Entry("max-size", .number(Double($0))) },
        ].compactMap(\.self)
    }
}
