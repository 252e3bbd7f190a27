import BookModel
import CatalogFetcher
import Transport

extension ConfigurationReader {
    /// The keys that say who asks.
    static let authorizationKeys = ["user", "password", "bearer"].flatMap { [$0, $0 + fileSuffix] }

    /// Makes an authorization of what a source has of these keys.
    ///
    /// - Parameter entries: those of the source.
    func readAuthorization(
        _ entries: [SettingNode.Entry], in keyPath: String, _ source: inout SourceConfiguration
    ) throws -> Authorization? {
        var values: [String: (value: String, entry: SettingNode.Entry)] = [:]
        for entry in entries where Self.authorizationKeys.contains(entry.key) {
            // A user's name alone is one that lets in, as keys of services are given.
            let isSecret = entry.key != "user" || !entries.contains { $0.key.hasPrefix("password") }
            let (key, value) = try readSecret(entry, in: keyPath, &source) { _ in isSecret }
            // What a header cannot carry would end it, or begin another one.
            guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                throw refusal(entry, expected: "a value on one line")
            }
            if !value.isEmpty { values[key] = (value, entry) }
        }
        if let bearer = values["bearer"] {
            if let other = values["user"] ?? values["password"] {
                throw refusal(other.entry, expected: "either 'user' and 'password' or 'bearer'")
            }
            guard !bearer.value.contains(" ") else {
                throw refusal(bearer.entry, expected: "a token without spaces")
            }
            return .bearer(Secret(bearer.value))
        }
        guard let user = values["user"] else {
            // A user's file that could not be read is told of once the source is asked.
            guard let password = values["password"], !entries.contains(where: { $0.key == "user-file" }) else {
                return nil
            }
            throw refusal(password.entry, expected: "a 'user' beside it")
        }
        // RFC 7617 §2: the first colon ends it.
        guard !user.value.contains(":") else {
            throw refusal(user.entry, expected: "a user's name without a colon")
        }
        return .basic(user: Secret(user.value), password: Secret(values["password"]?.value ?? ""))
    }

    /// Credentials go to the servers of the source's own addresses, so there must be one.
    func requireServer(for entries: [SettingNode.Entry], of source: SourceConfiguration) throws {
        guard source.ownAddresses.isEmpty, !entries.contains(where: { $0.key == "url-file" }) else { return }
        for entry in entries where entry.key == "cookies" || Self.authorizationKeys.contains(entry.key) {
            throw Failure(
                .configuration, disposition: .stop,
                what:
                    "\(file), line \(entry.line): '\(entry.key)' is for a server, and the source '\(source.name)' names none",
                why: "credentials go to the server of the source's 'url' and nowhere else",
                remedy: "set 'url' in the source '\(source.name)'")
        }
    }

    /// A setting that is silently ignored would be a lie.
    func refuseForeignKeys(_ entries: [SettingNode.Entry], of source: SourceConfiguration) throws {
        for entry in entries {
            let setting = SourceConfiguration.settings.first { $0.key == entry.key }
            guard let types = setting?.kinds, !types.contains(source.kind) else { continue }
            throw Failure(
                .configuration, disposition: .stop,
                what:
                    "\(file), line \(entry.line): '\(entry.key)' is not a setting of a source of type \(source.kind.rawValue)",
                why: "it is for sources of type \(types.map(\.rawValue).joined(separator: " and "))",
                remedy: "remove it, or correct the type of '\(source.name)'")
        }
    }
}
