import BookModel
import Foundation
import Support
import Testing

@testable import Settings

/// Several libraries in one configuration: which they are, which one is meant, and what cannot be two.
@Suite(.limitedConcurrency) struct LibrariesSettingTests {
    private func load(
        _ text: String, in folder: String, environment: [String: String] = [:], library: String? = nil
    ) throws -> LoadedConfiguration {
        try write(text, to: folder + "/config.yaml")
        return try Configuration.read(
            explicitPath: folder + "/config.yaml", environment: environment, homeFolder: "/home/me",
            currentFolder: folder, overrides: ConfigurationOverrides(library: library))
    }

    private func names(_ configuration: Configuration) -> [String] { configuration.libraries.map(\.name) }

    @Test func `libraries are in the order of the file, and new books go to the first`() async throws {
        let configuration = try await loadConfiguration("libraries: { home: ~/Audiobooks, attic: /mnt/attic/books }")
        #expect(
            configuration.libraries == [
                LibraryPlace(name: "home", path: "/home/me/Audiobooks", number: 0),
                LibraryPlace(name: "attic", path: "/mnt/attic/books", number: 1),
            ])
        #expect(configuration.library == "/home/me/Audiobooks" && configuration.hasSeveralLibraries)
    }

    @Test func `without libraries there is the one, as ever`() async throws {
        let configuration = try await loadConfiguration("library: /srv/books")
        #expect(configuration.libraries == [LibraryPlace(name: "books", path: "/srv/books")])
        #expect(!configuration.hasSeveralLibraries)
    }

    @Test(arguments: ["attic", "/mnt/attic", "'/mnt//attic/'"])
    func `library names the default by its name or its folder`(library: String) async throws {
        let configuration = try await loadConfiguration(
            "library: \(library)\nlibraries: { home: ~/Audiobooks, attic: /mnt/attic }")
        #expect(configuration.library == "/mnt/attic" && names(configuration) == ["home", "attic"])
    }

    @Test func `a pattern takes the folders that exist, in natural order`() async throws {
        try await withTemporaryPath { folder in
            for name in ["shard-10", "shard-2", "shard-1", "other"] {
                try write("", to: "\(folder)/mirror/\(name)/.keep")
            }
            try write("", to: folder + "/mirror/shard-3")
            let loaded = try load("libraries: mirror/shard-*", in: folder)
            #expect(names(loaded.configuration) == ["shard-1", "shard-2", "shard-10"])
            #expect(loaded.configuration.libraries.map(\.number) == [0, 1, 2])
            #expect(loaded.origins["libraries.shard-10"] == .file(path: folder + "/config.yaml", line: 1))
        }
    }

    @Test func `the command line chooses one by name, by folder, or one that has no name`() async throws {
        try await withTemporaryPath { folder in
            let text = "libraries: { home: a, attic: b }"
            for (choice, expected) in [
                ("attic", LibraryPlace(name: "attic", path: folder + "/b", number: 1)),
                ("./b", LibraryPlace(name: "attic", path: folder + "/b", number: 1)),
                ("/elsewhere/c", LibraryPlace(name: "c", path: "/elsewhere/c", number: 0)),
            ] {
                let chosen = try load(text, in: folder, library: choice).configuration
                #expect(chosen.libraries == [expected] && chosen.library == expected.path)
                let variable = try load(text, in: folder, environment: ["BOOKSYNC_LIBRARY": choice]).configuration
                #expect(variable.libraries == [expected])
            }
        }
    }

    @Test func `a mistyped name is told with the nearest one`() async throws {
        try await withTemporaryPath { folder in
            let failure = #expect(throws: Failure.self) {
                try load("libraries: { home: a, attic: b }", in: folder, library: "atic")
            }
            #expect(failure?.kind == .configuration && failure?.remedy?.description == "did you mean 'attic'?")
        }
    }

    @Test(arguments: [
        ("libraries: { home: /a/b, attic: /a/b/ }", "line 1: the libraries 'home' and 'attic' are one folder", "/a/b"),
        ("\nlibraries: { home: /a, x: /a-b, attic: /a/b }", "line 2: the library 'attic' is inside 'home'", "each"),
        ("libraries: /nowhere/shard-*", "line 1: 'libraries' names no library", "no folder matches"),
        ("libraries: { 'a/b': /x }", "'a/b'", "a library's name of letters"),
        ("libraries: { home: }", "line 1: 'home'", "the path of a folder"),
        ("libraries: [/a, /b]", "'libraries'", "keys with values"),
        ("library: /c\nlibraries: { home: /a }", "line 1: 'library' is none of the libraries", "/c is not among home"),
        (
            "libraries: { home: /a, attic: /b }\nsources: { s: { type: feed } }\nsubscriptions: [{ book: 's:1', library: atic }]",
            "line 3: the subscription to 's:1' names a library that is not configured", "did you mean 'attic'?"
        ),
    ])
    func `what cannot be several libraries is told`(text: String, what: String, why: String) async {
        let failure = await configurationFailure(text)
        #expect(failure?.contains(what) == true && failure?.contains(why) == true, "\(failure ?? "accepted")")
    }

    @Test func `one folder under two names is found through a symbolic link`() async throws {
        try await withTemporaryPath { folder in
            try write("", to: folder + "/a/.keep")
            try FileManager.default.createSymbolicLink(atPath: folder + "/b", withDestinationPath: folder + "/a")
            #expect(throws: Failure.self) { try load("libraries: { one: a, two: b }", in: folder) }
        }
    }

    @Test func `a subscription says where its book goes, and all is shown as it can be read again`() async throws {
        let text = """
            libraries: { home: /a, attic: /b }
            sources: { s: { type: feed } }
            subscriptions: [{ book: 's:1', library: attic }, { book: 's:2' }]
            """
        let configuration = try await loadConfiguration(text)
        #expect(configuration.subscriptions.map(\.library) == ["attic", nil])
        let again = try await loadConfiguration(configuration.effectiveDescription.yamlText)
        #expect(again == configuration)
    }
}
