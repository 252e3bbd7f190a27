import Foundation
import Support
import Testing

extension ProductTests {
    /// How files are named: by source, by book, and by a plan that only shows it.
    @Suite struct Naming {
        private static let source = #"    naming: "{title}/{disc?CD{disc}/}{section}.{ext}""#

        @Test func `plan --naming prints the renames and changes nothing; a book's own naming then does them`()
            async throws
        {
            let catalog = ScriptedCatalog(episodes: 2, bytes: 2000)
            try await withCatalog(catalog.script, more: Self.source) { bench, server in
                func run(_ arguments: String...) async throws -> ProductRunner.Result {
                    let result = try await bench.runBare(
                        arguments + ["--library", "L"], environment: bench.configured)
                    #expect(result.exitCode == 0, "\(arguments): \(result.errors)")
                    return result
                }
                _ = try await run("fetch", "1", "-q")
                let named = try bench.files().keys.sorted()
                #expect(named.map { $0.split(separator: "/").last } == ["001.mp3", "002.mp3"])
                let template = "{section} {name}/{filename}.{ext}"
                for more in [["--offline"], []] {
                    let plan = try await bench.runBare(
                        ["plan", "1", "--naming", template, "--json", "--library", "L"] + more,
                        environment: bench.configured)
                    #expect(plan.exitCode == 0, "\(plan.errors)")
                    let renames = try JSONObject(plan.output).objects("actions")
                    #expect(renames.map { $0["action"] } == ["rename", "rename"])
                    #expect(renames.compactMap { $0["from_path"] } == named)
                    #expect(renames.compactMap { $0["path"] } == ["001 第1集/1.mp3", "002 第2集/2.mp3"])
                }
                let shown = try await run("plan", "--offline", "--naming", template, "1").output
                #expect(shown.contains("\(named[0]) → 001 第1集/1.mp3"), "\(shown)")
                #expect(try bench.files().keys.sorted() == named)
                let planned = try JSONObject(try await run("plan", "1", "--json").output)
                #expect(planned.object("totals")?.number("keep") == 2)

                _ = try await run("subscribe", "1", "--naming", template)
                let subscriptions = try await run("subscriptions", "--json")
                #expect(try JSONObject.list(subscriptions.output).compactMap { $0["naming"] } == [template])
                #expect(try await run("subscriptions").output.contains("named \(template)"))
                let sent = server.record.audioBytesSent
                #expect(try await run("fetch", "1", "--json").summary().number("renamed") == 2)
                #expect(try bench.files().keys.sorted() == ["001 第1集/1.mp3", "002 第2集/2.mp3"])
                #expect(try await run("mirror", "--json").summary().number("kept") == 2)
                #expect(server.record.audioBytesSent == sent)

                _ = try await run("subscriptions", "--export", "out.opml")
                let outline = try String(contentsOf: bench.folder.appending(path: "out.opml"), encoding: .utf8)
                #expect(outline.contains(#"booksync:naming="\#(template)""#), "\(outline)")
                let imported = try await bench.runBare(
                    ["subscriptions", "--import", "out.opml", "--library", "M"], environment: bench.configured)
                #expect(imported.exitCode == 0, "\(imported.errors)")
                let again = try await bench.runBare(
                    ["subscriptions", "--json", "--library", "M"], environment: bench.configured)
                #expect(try JSONObject.list(again.output).compactMap { $0["naming"] } == [template])
            }
        }

        @Test(arguments: [
            (["plan", "1"], "{section} {name}.mp3", "the extension is that of the file: write .{ext}"),
            (["subscribe", "1"], "{disc?CD{disc}/{section}", "the condition {disc? is not closed by a }"),
        ])
        func `a naming that cannot be used is refused with the fix`(
            command: [String], template: String, expected: String
        ) async throws {
            try await withCatalog(ScriptedCatalog(episodes: 1).script) { bench, _ in
                let result = try await bench.runBare(
                    command + ["--naming", template, "--library", "L"], environment: bench.configured)
                #expect(result.exitCode == 64)
                #expect(result.errors.contains(expected), "\(result.errors)")
                #expect(result.errors.contains("write for example {author}/{title}/{section} {name}.{ext}"))
                #expect(!bench.exists)
            }
        }

        @Test func `config show and config check know the namings of sources and books`() async throws {
            try await withWorkbench { bench in
                try bench.configure(
                    """
                    sources: { cat: { type: feed, naming: "{title}/{section}" } }
                    subscriptions: [{ book: "cat:https://h.example/f", naming: "{disc?CD{disc}/}{section}" }]
                    """)
                let shown = try await bench.runBare(["config", "show"], environment: bench.configured)
                #expect(shown.output.contains(#"naming: "{title}/{section}""#), "\(shown.output)")
                #expect(shown.output.contains(#"naming: "{disc?CD{disc}/}{section}""#), "\(shown.output)")
                try bench.configure(
                    """
                    sources: { cat: { type: feed, naming: "{title}.mp3" } }
                    subscriptions: [{ book: "cat:https://h.example/f", naming: "{disc?CD{disc}" }]
                    """)
                let checked = try await bench.runBare(["config", "check"], environment: bench.configured)
                #expect(checked.exitCode == 78)
                #expect(checked.errors.contains("line 1: the naming '{title}.mp3'"), "\(checked.errors)")
                #expect(checked.errors.contains("line 2: the naming '{disc?CD{disc}'"), "\(checked.errors)")
            }
        }
    }
}
