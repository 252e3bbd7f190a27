import BookModel
import Foundation
import Support
import Testing

@testable import Settings

/// The table of all settings in the documentation is what the settings declare.
@Suite struct ConfigurationReferenceTests {
    private static let article = Corpus.repository
        .appending(path: "Sources/BookSync/Documentation.docc/ConfigurationReference.md")
    private static let mark = "ConfigurationReferenceTests from the settings' declarations. -->\n"

    private var table: String {
        let rows = Configuration.settings.map { setting in
            var value = (setting.shown(.builtIn) ?? .text("")).yamlText.trimmingCharacters(in: .whitespacesAndNewlines)
            if value.hasPrefix("- ") { value = "[\(value.dropFirst(2).replacing("\n- ", with: ", "))]" }
            let shown = value.isEmpty || value == "\"\"" ? "" : "`\(value)`"
            let type = setting.expected.description.replacing("|", with: "\\|") + (setting.isSecret ? "; secret" : "")
            return "| `\(setting.key)` | \(shown) | \(type) | `\(setting.environmentName)` |"
        }
        let head = ["| setting | default | value | environment variable |", "| --- | --- | --- | --- |"]
        return "\n" + (head + rows).joined(separator: "\n") + "\n"
    }

    /// With `BOOKSYNC_UPDATE_DOCUMENTATION=1` the table is written.
    @Test func `the reference lists every setting as it is declared`() throws {
        let text = try String(contentsOf: Self.article, encoding: .utf8)
        let mark = try #require(text.range(of: Self.mark))
        if ProcessInfo.processInfo.environment["BOOKSYNC_UPDATE_DOCUMENTATION"] == "1" {
            try (text[..<mark.upperBound] + table).write(to: Self.article, atomically: true, encoding: .utf8)
        }
        let now = try String(contentsOf: Self.article, encoding: .utf8)
        #expect(now[mark.upperBound...] == table)
    }
}
