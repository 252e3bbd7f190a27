import ArgumentParser
import Foundation
import Support
import Testing

@testable import BookSyncCLI

/// The schemas in `Fixtures/schemas` of what the commands print with `--json`.
struct RecordedSchemas {
    private static let shared = "definitions.json"

    private let files: [String: Data]

    init() throws {
        let folder = Corpus.fixture("schemas")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        files = try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: folder.appending(path: $0))) })
    }

    /// The commands that have one, a command below another as in `config-show`.
    var commands: Set<String> {
        Set(files.keys.filter { $0 != Self.shared }.map { $0.replacing(".json", with: "") })
    }

    func faults(of document: String, printedBy command: String) throws -> [String] {
        try JSONSchema(document: try #require(files["\(command).json"], "\(command)"), others: files).faults(
            of: document)
    }

    /// Those that several commands share.
    func definitions() throws -> [String: [String: Any]] {
        let root = try JSONSerialization.jsonObject(with: try #require(files[Self.shared])) as? [String: Any]
        return try #require(root?["$defs"] as? [String: [String: Any]])
    }

    /// The words for what was done that the schemas know.
    func events() throws -> Set<String> {
        func events(in value: Any) -> Set<String> {
            if let items = value as? [Any] { return items.map(events).reduce([]) { $0.union($1) } }
            guard let members = value as? [String: Any] else { return [] }
            let word = ((members["properties"] as? [String: Any])?["event"] as? [String: Any])?["const"] as? String
            return members.values.map(events).reduce(Set([word].compactMap(\.self))) { $0.union($1) }
        }
        return try files.values.map { events(in: try JSONSerialization.jsonObject(with: $0)) }
            .reduce([]) { $0.union($1) }
    }

    /// What the program can be asked to do, a command below another as in `config-show`.
    static let programsCommands: Set<String> = names(below: BookSyncCommand.self, "")

    private static func names(below command: any ParsableCommand.Type, _ prefix: String) -> Set<String> {
        command.configuration.subcommands.reduce(into: []) { names, next in
            let name = prefix + next._commandName
            names.formUnion(next.configuration.subcommands.isEmpty ? [name] : Self.names(below: next, name + "-"))
        }
    }

    /// Those that print a document a line; the others print a single one.
    private static let lineByLine: Set = [
        "fetch", "mirror", "plan", "catalog", "subscribe", "unsubscribe", "join", "move",
    ]

    /// The documents of a command's output.
    static func documents(in output: String, of command: String) -> [String] {
        lineByLine.contains(command) ? output.split(separator: "\n").map(String.init) : output.isEmpty ? [] : [output]
    }
}
