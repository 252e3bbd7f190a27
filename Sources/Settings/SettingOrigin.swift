import BookModel

/// Where a setting's value came from.
package enum SettingOrigin: Sendable, Hashable {
    case builtIn
    /// Of the configuration file; `contentsOf` is the file that the value itself was read from, where it was.
    case file(path: String, line: Int, contentsOf: String? = nil)
    /// The variable, and the file that it names where the value was read from one.
    case environment(String, contentsOf: String? = nil)
    /// As it is written on the command line.
    case flag(String)

    package var message: Message {
        func reading(_ path: String?) -> Message { path.map { ", read from \($0)" } ?? "" }
        return switch self {
        case .builtIn: "default"
        case .file(let path, let line, let contents): "\(path), line \(line)\(reading(contents))"
        case .environment(let name, let contents): "$\(name)\(reading(contents))"
        case .flag(let flag): Message(verbatim: flag)
        }
    }

    package var document: JSONDocument {
        switch self {
        case .builtIn: ["from": "default"]
        case .file(let path, let line, let contents):
            ["from": "file", "file": .string(path), "line": .init(line), "read_from": .init(contents)]
        case .environment(let name, let contents):
            ["from": "environment", "variable": .string(name), "read_from": .init(contents)]
        case .flag(let flag): ["from": "flag", "flag": .string(flag)]
        }
    }
}

/// What is found out about the settings themselves while they are read.
///
/// An object, so that every part of the reader writes into the same one; it never leaves the function that loads.
final class ConfigurationFindings {
    /// By the setting's key path: `downloads.jobs`, `sources.kting.query.token`, `subscriptions[0].title`.
    var origins: [String: SettingOrigin] = [:]
    /// Values in the configuration file itself that should be seen by nobody else.
    var literalSecrets: [LiteralSecret] = []
    /// Absolute paths of files that hold nothing but secrets.
    var secretFiles: [String] = []
    /// What is wrong with the configuration, in the order in which it was found.
    var faults: [Failure] = []

    /// Records what is wrong with one setting, so that the others are looked at as well.
    /// - Throws: what `read` throws that is no fault of the configuration.
    func attempt(_ read: () throws -> Void) throws {
        do {
            try read()
        } catch let failure as Failure where failure.kind == .configuration {
            faults.append(failure)
        }
    }
}

/// A secret that stands in the configuration file as it is.
package struct LiteralSecret: Sendable, Hashable {
    package var setting: String
    package var line: Int
}
