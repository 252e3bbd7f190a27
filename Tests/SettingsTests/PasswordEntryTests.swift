import BookModel
import Foundation
import Support
import Testing

@testable import Settings

@Suite(.limitedConcurrency) struct PasswordEntryTests {
    private static let hash = PasswordHash(salt: Array(repeating: 7, count: 16), hash: Array(repeating: 9, count: 32))

    private static var line: String {
        get throws { "password: \"\(try #require(hash).secretText)\"" }
    }

    /// `@` stands for the entry.
    @Test(
        arguments: [
            ("", "serve:\n  @\n"),
            ("# nothing yet\n", "# nothing yet\nserve:\n  @\n"),
            ("library: x", "library: x\nserve:\n  @\n"),
            ("library: x\r\n# end\r\n", "library: x\r\n# end\r\nserve:\r\n  @\r\n"),
            ("serve:\nlibrary: x\n", "serve:\n  @\nlibrary: x\n"),
            (
                "serve:   # how\n  # where\n  listen: 80 # here\n\n# end",
                "serve:   # how\n  # where\n  @\n  listen: 80 # here\n\n# end"
            ),
            ("serve:\n    listen: 80\nlibrary: x\n", "serve:\n    @\n    listen: 80\nlibrary: x\n"),
            ("serve:\n  listen: 80\n  password: \"\" # no\nnaming: x\n", "serve:\n  listen: 80\n  @ # no\nnaming: x\n"),
            ("serve:\n  password:   # later\n  listen: 80\n", "serve:\n  @ # later\n  listen: 80\n"),
            ("serve:\n  password: 'plain''s' \n", nil),
            ("serve:\n  password: plain text  # mine\n", "serve:\n  @  # mine\n"),
            ("serve:\n  password: \"x\"\t# mine\n", "serve:\n  @\t# mine\n"),
            ("serve:\r\n  password: plain\r\n  listen: 80\r\n", "serve:\r\n  @\r\n  listen: 80\r\n"),
            (
                "naming: |\n  serve:\n    password: a\nserve:\n  listen: 80\n",
                "naming: |\n  serve:\n    password: a\nserve:\n  @\n  listen: 80\n"
            ),
        ] as [(String, String?)])
    func `the entry is made, and nothing else is touched`(_ text: String, _ expected: String?) throws {
        let line = try Self.line
        let entered = try PasswordEntry(try #require(Self.hash)).entered(into: text, file: "f")
        #expect(entered == expected?.replacing("@", with: line))
    }

    @Test(arguments: [
        "serve: { listen: 80 }\n", "{ library: x }\n", "serve:\n  { listen: 80 }\n", "library: x\n...\n", "- a\n",
        "serve: 4\n", "serve:\n  password-file: x\n", "serve:\n  password: |\n    two\n    lines\n",
        "? serve\n: listen: 80\n",
        "serve:\n  password: two\n    lines\n", "serve: ~\n", "  library: x\n", "serve:\n  \"password\": x\n",
    ])
    func `what is written in another form is left to its writer`(_ text: String) throws {
        #expect(try PasswordEntry(try #require(Self.hash)).entered(into: text, file: "f") == nil)
    }

    @Test func `what is no YAML is told, and not made worse`() throws {
        let entry = PasswordEntry(try #require(Self.hash))
        #expect(throws: Failure.self) { try entry.entered(into: "a: b: c\n", file: "f") }
    }

    // MARK: The file

    @Test func `the file keeps its mode, and a link stays a link`() async throws {
        try await withTemporaryPath { folder in
            try write("library: x\n", to: folder + "/real.yaml")
            #expect(chmod(folder + "/real.yaml", 0o640) == 0)
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/config.yaml", withDestinationPath: "real.yaml")
            let entry = PasswordEntry(try #require(Self.hash))
            #expect(try entry.write(to: folder + "/config.yaml") == nil)
            let text = try String(contentsOfFile: folder + "/real.yaml", encoding: .utf8)
            let line = try Self.line
            #expect(text == "library: x\nserve:\n  \(line)\n")
            var status = stat()
            #expect(lstat(folder + "/config.yaml", &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
            #expect(stat(folder + "/real.yaml", &status) == 0 && status.st_mode & 0o7777 == 0o640)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["config.yaml", "real.yaml"])
        }
    }

    @Test func `a file that is not there is made for its owner alone`() async throws {
        try await withTemporaryPath { folder in
            let entry = PasswordEntry(try #require(Self.hash))
            #expect(try entry.write(to: folder + "/a/b/config.yaml") == nil)
            var status = stat()
            #expect(stat(folder + "/a/b/config.yaml", &status) == 0 && status.st_mode & 0o777 == 0o600)
            #expect(stat(folder + "/a/b", &status) == 0 && status.st_mode & 0o777 == 0o700)
        }
    }

    @Test func `a file with two names, and what is no file, are left alone`() async throws {
        try await withTemporaryPath { folder in
            let entry = PasswordEntry(try #require(Self.hash))
            try write("library: x\n", to: folder + "/a.yaml")
            try FileManager.default.linkItem(atPath: folder + "/a.yaml", toPath: folder + "/b.yaml")
            #expect(try entry.write(to: folder + "/a.yaml")?.description.contains("other names") == true)
            #expect(try entry.write(to: "/dev/null")?.description.contains("no file") == true)
            #expect(try String(contentsOfFile: folder + "/b.yaml", encoding: .utf8) == "library: x\n")
        }
    }
}
