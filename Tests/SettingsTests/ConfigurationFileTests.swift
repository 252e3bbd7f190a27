import BookModel
import Foundation
import Support
import Testing

@testable import Settings

@Suite(.limitedConcurrency) struct ConfigurationFileTests {
    private func load(
        _ explicitPath: String?, _ environment: [String: String], home: String, here: String = "/here"
    ) throws -> LoadedConfiguration {
        try Configuration.read(
            explicitPath: explicitPath, environment: environment, homeFolder: home, currentFolder: here)
    }

    @Test func `the file is looked for in the order of the contract`() async throws {
        try await withTemporaryPath { folder in
            #expect(try load(nil, [:], home: folder).path == nil)
            for (place, number) in [
                (".config/booksync/config.yaml", 1), ("xdg/booksync/config.yaml", 2), ("env", 3), ("flag", 4),
            ] {
                try write("downloads: { jobs: \(number) }", to: "\(folder)/\(place)")
            }
            func jobs(_ path: String?, _ environment: [String: String]) throws -> Int {
                try load(path, environment, home: folder, here: folder).configuration.downloads.jobs
            }
            var environment: [String: String] = [:]
            #expect(try jobs(nil, environment) == 1)
            environment["XDG_CONFIG_HOME"] = "relative"
            #expect(try jobs(nil, environment) == 1)
            environment["XDG_CONFIG_HOME"] = folder + "/xdg"
            #expect(try jobs(nil, environment) == 2)
            environment["BOOKSYNC_CONFIG"] = "~/env"
            #expect(try jobs(nil, environment) == 3)
            #expect(try jobs("flag", environment) == 4)
            #expect(try load("flag", [:], home: "/", here: folder).path == folder + "/flag")
        }
    }

    @Test func `without a file the built-in settings hold`() async throws {
        try await withTemporaryPath { folder in
            var expected = Configuration.builtIn
            expected.library = "/here/Audiobooks"
            let configuration = try load(nil, [:], home: folder).configuration
            #expect(configuration == expected)
        }
    }

    @Test(arguments: ["flag", "environment"]) func `a file that was named must be there`(way: String) throws {
        let failure = try #require(throws: Failure.self) {
            try load(
                way == "flag" ? "/nowhere/c.yaml" : nil, way == "flag" ? [:] : ["BOOKSYNC_CONFIG": "/nowhere/c.yaml"],
                home: "/nowhere")
        }
        #expect(failure.kind == .configuration)
        #expect(
            failure.what.description.contains("/nowhere/c.yaml")
                && failure.why.description == "No such file or directory")
    }

    @Test func `a folder, a file too large and text that is not UTF-8 are refused`() async throws {
        try await withTemporaryPath { folder in
            func why(_ path: String) throws -> String {
                try #require(throws: Failure.self) { try load(path, [:], home: folder) }.why.description
            }
            #expect(try why(folder) == "Is a directory")
            try write(String(repeating: "#", count: 1_000_001), to: folder + "/large")
            #expect(try why(folder + "/large") == "it is larger than 1 MB")
            #expect(try why("/dev/zero") == "it is larger than 1 MB")
            try Data("a\nb\n\u{20}\u{E9}".utf8.dropLast()).write(to: URL(filePath: folder + "/latin"))
            #expect(try why(folder + "/latin") == "line 3 is not UTF-8 text")
        }
    }

    @Test func `a relative library counts from the file that names it`() async throws {
        try await withTemporaryPath { folder in
            try write("\u{FEFF}library: ./shelf\r\ndownloads:\r\n  jobs: 2\r\n", to: folder + "/c.yaml")
            let configuration = try load(folder + "/c.yaml", [:], home: "/").configuration
            #expect(configuration.library == folder + "/shelf")
            #expect(configuration.downloads.jobs == 2)
        }
    }

    // MARK: config/booksync.yaml

    private static let example = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../config/booksync.yaml").standardizedFileURL.path(percentEncoded: false)

    /// The example with everything that is off turned on.
    private func allTurnedOn() throws -> String {
        try String(contentsOfFile: Self.example, encoding: .utf8).split(separator: "\n").map { line in
            let setting = line.dropFirst()
            let isOff = line.hasPrefix("#") && !setting.isEmpty && (!setting.hasPrefix(" ") || setting.hasPrefix("  "))
            return String(isOff && setting.contains(":") ? setting : line)
        }.filter { !$0.contains("→") }.joined(separator: "\n")
    }

    @Test func `the example file says what holds without it`() throws {
        var expected = Configuration.builtIn
        expected.library = "/here/Audiobooks"
        #expect(try load(Self.example, [:], home: "/").configuration == expected)
    }

    @Test func `the example file has every setting there is and no other`() async throws {
        let text = try allTurnedOn()
        _ = try await loadConfiguration(text)
        let root = try #require(try YAMLText.parse(text, file: "example"))
        var found: Set<String> = []
        func collect(_ node: SettingNode, _ place: String) {
            switch node.content {
            case .map(let entries):
                for entry in entries {
                    let isNamed = ["sources.", "libraries."].contains(place)
                    if !isNamed { found.insert(place + entry.key) }
                    if place.hasSuffix(".query.") || place.hasSuffix(".headers.") { found.remove(place + entry.key) }
                    collect(entry.value, isNamed ? "sources.*." : place + entry.key + ".")
                }
            case .list(let items): for item in items { collect(item, place) }
            case .text, .nothing: break
            }
        }
        collect(root, "")
        let groups = ["downloads", "notify", "notify.audiobookshelf", "find", "serve", "serve.tls"]
        let known =
            ConfigurationReader.knownKeys(in: nil)
            + groups.flatMap { group in ConfigurationReader.knownKeys(in: group).map { "\(group).\($0)" } }
            + ConfigurationReader.knownKeys(in: "sources.*").map { "sources.*.\($0)" }
            + ConfigurationReader.knownKeys(in: "sources.*.signature").map { "sources.*.signature.\($0)" }
            + ConfigurationReader.knownKeys(in: "subscriptions").map { "subscriptions.\($0)" }
        // That a secret may stand in a file of its own is said once for all, with the names of the keys.
        let fileKeys = known.filter { $0.hasSuffix("-file") && known.contains(String($0.dropLast("-file".count))) }
        #expect(found == Set(known).subtracting(fileKeys))
        for key in fileKeys {
            let name = key.split(separator: ".").last ?? ""
            #expect(text.contains(name), "\(name) is not told of")
        }
    }
}
