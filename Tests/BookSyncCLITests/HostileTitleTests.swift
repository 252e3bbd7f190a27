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
}
