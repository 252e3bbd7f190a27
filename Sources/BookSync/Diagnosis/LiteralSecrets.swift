import BookModel
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Secrets that stand in a configuration file themselves, and not as `${NAME}`.
enum LiteralSecrets {
    /// The keys with their lines, as in "token, line 7"; none where the file cannot be read by others than its owner.
    /// - Throws: ``Failure`` of kind `configuration`.
    static func readableByOthers(in file: String) throws -> [String] {
        var status = stat()
        guard stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & (S_IRGRP | S_IROTH) != 0,
            let text = FileManager.default.contents(atPath: file),
            let root = try YAMLText.parse(String(decoding: text, as: UTF8.self), file: file)
        else { return [] }
        return found(in: root, below: [])
    }

    /// Parts of names that tell a secret. Everything below `signature` and `notify` is one but what says how it is used.
    private static let telling = [
        "token", "secret", "password", "passwd", "apikey", "api-key", "api_key", "auth", "cookie", "session", "imei",
    ]
    private static let harmless: Set<String> = ["parameter", "algorithm"]

    private static func found(in node: SettingNode, below keys: [String]) -> [String] {
        switch node.content {
        case .nothing: return []
        case .text(let text):
            guard isSecret(text, at: keys), let key = keys.last else { return [] }
            return ["\(key), line \(node.line)"]
        case .list(let items): return items.flatMap { found(in: $0, below: keys) }
        case .map(let entries): return entries.flatMap { found(in: $0.value, below: keys + [$0.key]) }
        }
    }

    private static func isSecret(_ text: String, at keys: [String]) -> Bool {
        guard !text.isEmpty, !text.contains("${"), let key = keys.last?.lowercased() else { return false }
        if keys.contains("signature") || keys.first == "notify" { return !harmless.contains(key) }
        // A user and a password within an address.
        if let scheme = text.firstRange(of: "://") {
            return text[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }.contains("@")
        }
        guard keys.contains("query") || keys.contains("headers") || keys.contains("credentials") else { return false }
        return telling.contains { key.contains($0) }
    }
}
