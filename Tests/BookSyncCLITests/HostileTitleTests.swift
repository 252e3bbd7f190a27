import Foundation
import Support
import Testing

extension ProductTests.Attack {
    @Test func `a script in a title is text wherever the title is shown`() async throws {
        let title = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{token}}&amp;"
        try await withWorkbench { bench in
            try bench.configure(
                "subscriptions:\n  - book: demo:40111\n    title: '\(title.replacing("'", with: "''"))'\n")
            let mirrored = try await bench.run("mirror", "-q", "--config", "booksync.yaml")
            try #require(mirrored.exitCode == 0, "\(mirrored.errors)")
            try await bench.serve { shelf in
                var shown = 0
                for path in [
                    "/", "/books/demo/40111", "/queue", "/runs", "/subscriptions", "/doctor", "/search?q=script",
                    "/feeds/all.opml", "/feeds/demo/40111.xml",
                ] {
                    let answer = try await shelf.send(path, ["Accept: text/html"])
                    #expect(answer.status == 200, "\(path)")
                    #expect(!answer.text.contains("<script>alert") && !answer.text.contains("<img src=x"), "\(path)")
                    #expect(!answer.text.contains("\"'><"), "\(path)")
                    if answer.text.contains("&lt;script") { shown += 1 }
                }
                #expect(shown >= 4)
                let document = try await shelf.send("/api/v1/books")
                #expect(document.fields["content-type"]?.hasPrefix("application/json") == true)
            }
        }
    }
    @Test func `what turns the direction of a title, or hides text in it, reaches no reader`() async throws {
        let hidden = ["\u{202E}", "\u{2066}", "\u{E0041}", "\u{1B}[31m", "\u{9B}", "\u{2028}"]
        var catalog = ScriptedCatalog(episodes: 1)
        catalog.items[0].name = "One" + hidden.joined() + "Two"
        try await withCatalog(catalog.script) { bench, server in
            let configuration = ScriptedCatalog.configuration(
                port: server.port,
                more: "subscriptions: [{ book: \"cat:1\", title: \"A\\u202E\\u2066\\e[31mB\" }]")
            try bench.configure(configuration)
            let log = bench.folder.appending(path: "log").path
            let environment = bench.configured
            var shown = ""
            for arguments in [
                ["mirror", "-v", "--log-file", log], ["list"], ["list", "1"], ["list", "1", "--json"], ["plan", "1"],
                ["plan", "1", "--json"], ["show", "1/1"], ["explain", "1/1"], ["runs"], ["search", "One"],
                ["catalog", "1"], ["remove", "1/1"], ["trash", "list"], ["trash", "list", "--json"],
            ] {
                let result = try await bench.runBare(
                    arguments + ["--library", bench.library.path], environment: environment)
                #expect(result.exitCode == 0, "\(arguments): \(result.errors)")
                shown += result.output + result.errors
            }
            shown += try String(contentsOfFile: log, encoding: .utf8)
            #expect(shown.contains("Two"))
            for text in hidden { #expect(!shown.contains(text), "\(text.debugDescription)") }
            for scalar in shown.unicodeScalars where scalar.value >= 0x7F && scalar.value < 0xA0 {
                Issue.record("U+\(String(scalar.value, radix: 16))")
            }
        }
    }
}
