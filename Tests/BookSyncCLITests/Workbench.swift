import Foundation
import Support
import Testing

/// A folder of its own to run the product in: a library, and a configuration where one is wanted.
struct Workbench {
    let folder: URL

    var library: URL { folder.appending(path: "L") }
    var configuration: URL { folder.appending(path: "booksync.yaml") }

    /// Runs the product to its end, with `--library` behind the arguments.
    func run(
        _ arguments: String..., environment: [String: String] = [:]
    ) async throws -> ProductRunner.Result {
        try await ProductRunner.run(arguments + ["--library", "L"], environment: environment, in: folder)
    }

    /// Runs the product with the arguments as they are.
    func runBare(_ arguments: [String], environment: [String: String] = [:]) async throws -> ProductRunner.Result {
        try await ProductRunner.run(arguments, environment: environment, in: folder)
    }

    /// Has every file of the library be another one with the same bytes, as after a copy that keeps no times. None gets the
    /// inode of the one before, which is there until then.
    func rewriteFiles() throws {
        for path in try files().keys {
            let place = library.appending(path: path)
            try Data(contentsOf: place).write(to: place, options: .atomic)
        }
    }

    /// Deletes the library, and what is remembered of it, so that a new one may be begun.
    func deleteLibrary() throws {
        for place in [library, folder.appending(path: ".local/state/booksync/libraries")] {
            try FileManager.default.removeItem(at: place)
        }
    }

    /// Deletes files that the next run fetches again.
    func dropFiles(_ reference: String) async throws {
        #expect(try await run("remove", reference, "-q", "--yes").exitCode == 0)
        #expect(try await run("trash", "empty", "-q", "--yes").exitCode == 0)
        #expect(try await run("remove", reference, "--forget", "-q").exitCode == 0)
    }

    /// Runs the product beside the body.
    func start<Answer>(
        _ arguments: String..., environment: [String: String] = [:], isolation: isolated (any Actor)? = #isolation,
        _ body: (RunningProduct) async throws -> Answer
    ) async throws -> Answer {
        try await withProduct(arguments + ["--library", "L"], environment: environment, in: folder, body)
    }

    /// Runs a line of shell in which `$BOOKSYNC` is the product.
    func shell(_ script: String) async throws -> ProductRunner.Result {
        let product = try #require(ProductRunner.executable)
        return try await withProduct(
            ["-c", script], environment: ["BOOKSYNC": product.path], in: folder, executable: URL(filePath: "/bin/sh")
        ) { try await $0.result() }
    }

    /// Writes the configuration file; `BOOKSYNC_CONFIG` is not needed with ``configured``.
    func configure(_ text: String) throws {
        try Data(text.utf8).write(to: configuration)
    }

    /// The environment in which the written configuration is found.
    var configured: [String: String] { ["BOOKSYNC_CONFIG": configuration.path] }

    // MARK: What is on disk

    /// Every file below the folder, by its path relative to it, without `.booksync`.
    func files(in folder: URL? = nil) throws -> [String: URL] {
        let root = folder ?? library
        guard let below = FileManager.default.enumerator(at: root, includingPropertiesForKeys: [.isRegularFileKey])
        else { return [:] }
        var files: [String: URL] = [:]
        for case let file as URL in below {
            if file.lastPathComponent == ".booksync" {
                below.skipDescendants()
                continue
            }
            let isRegular = try unlessRemoved { try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile }
            guard isRegular == true else { continue }
            files[String(file.path.dropFirst(root.path.count + 1))] = file
        }
        return files
    }

    /// SHA-256 of every audio file of the library, in the order of their paths.
    func digests() throws -> [String] {
        try files().sorted { $0.key < $1.key }.map { sha256(try Data(contentsOf: $0.value)) }
    }

    var partialFiles: [String] {
        get throws {
            let folder = library.appending(path: ".booksync/partial").path
            guard FileManager.default.fileExists(atPath: folder) else { return [] }
            return try FileManager.default.contentsOfDirectory(atPath: folder)
        }
    }

    /// In bytes.
    var partialSizes: [Int] {
        get throws {
            let folder = library.appending(path: ".booksync/partial").path
            return try partialFiles.compactMap { name in
                let path = "\(folder)/\(name)"
                return try unlessRemoved { try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int }
            }
        }
    }

    /// Returns when the partial files hold so many bytes together.
    func waitUntilHeld(_ count: Int) async throws {
        try await waitUntil("\(count) bytes are held") { try partialSizes.reduce(0, +) == count }
    }

    var exists: Bool { FileManager.default.fileExists(atPath: library.path) }
}

/// Runs the body with a workbench that is removed afterwards.
func withWorkbench<Answer>(
    isolation: isolated (any Actor)? = #isolation, _ body: (Workbench) async throws -> Answer
) async throws -> Answer {
    // A shell's background job starts with SIGINT ignored, and children inherit that: theirs is to be the usual one.
    for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_DFL) }
    return try await withTemporaryFolder { try await body(Workbench(folder: $0)) }
}

/// The same with a port that refuses every connection.
func withWorkbenchAndRefusingPort<Answer>(
    isolation: isolated (any Actor)? = #isolation, _ body: (Workbench, Int) async throws -> Answer
) async throws -> Answer {
    try await withRefusingPort { port in
        try await withWorkbench { try await body($0, port) }
    }
}

/// What a program that reads the product's JSON sees.
struct JSONObject {
    let members: [String: Any]

    init(_ text: some StringProtocol) throws {
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        members = try #require(value as? [String: Any])
    }

    private init(members: [String: Any]) { self.members = members }

    /// The objects of an array.
    static func list(_ text: String) throws -> [JSONObject] {
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        return try #require(value as? [[String: Any]]).map { JSONObject(members: $0) }
    }

    var keys: Set<String> { Set(members.keys) }

    subscript(_ key: String) -> String? { members[key] as? String }
    func number(_ key: String) -> Int? { (members[key] as? NSNumber)?.intValue }
    func double(_ key: String) -> Double? { (members[key] as? NSNumber)?.doubleValue }
    func object(_ key: String) -> JSONObject? { (members[key] as? [String: Any]).map { JSONObject(members: $0) } }
    func objects(_ key: String) -> [JSONObject] {
        (members[key] as? [[String: Any]] ?? []).map { JSONObject(members: $0) }
    }
    func isNull(_ key: String) -> Bool { members[key] is NSNull }
}

extension ProductRunner.Result {
    /// The JSON lines of a run; every line must be one.
    func events() throws -> [JSONObject] { try outputLines.map { try JSONObject($0) } }

    /// The last line of a run.
    func summary() throws -> JSONObject { try #require(try events().last { $0["event"] == "summary" }) }

    /// Characters that could steer a terminal, of both streams.
    var controlCharacters: [Unicode.Scalar] {
        (output + errors).unicodeScalars.filter { $0.properties.generalCategory == .control && $0 != "\n" }
    }
}
