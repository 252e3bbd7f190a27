/// Descriptions that catalogs write as HTML, as plain text.
package enum HTMLText {
    /// More of a description is not shown anywhere.
    private static let maxLength = 64 << 10

    /// The text with a new line where HTML would begin one, on which no more than one is left empty.
    package static func plain(_ text: String) -> String {
        let source = text.utf8.count <= maxLength ? text : String(text.prefix(maxLength / 4))
        guard source.utf8.contains(UInt8(ascii: "<")) else { return CatalogText.paragraph(source) }
        let collector = Collector()
        _ = HTMLReader.read(Array(source.utf8), into: collector)
        let whole = CatalogText.cleaned(String(decoding: collector.collected, as: UTF8.self), keepingLines: true)
        var lines: [Substring] = []
        for line in whole.split(separator: "\n", omittingEmptySubsequences: false) {
            let line = line.drop { $0 == " " }
            if !(line.isEmpty && lines.last?.isEmpty != false) { lines.append(line) }
        }
        return lines.joined(separator: "\n")
    }

    /// - Returns: nil when nothing is left.
    static func paragraph(_ text: String) -> String? {
        let plain = plain(text)
        return plain.isEmpty ? nil : plain
    }

    /// What a search tells of a book; nil for nothing.
    package static func summary(_ text: String?) -> String? {
        text.flatMap { paragraph(String($0.unicodeScalars.prefix(2000))) }
    }

    private final class Collector: HTMLHandler {
        var collected: [UInt8] = []
        private var silent = 0
        private static let breaks: Set = ["br", "p", "div", "li", "tr", "h1", "h2", "h3", "blockquote"]

        func open(_ name: String, attributes: [String: String]) {
            if name == "script" || name == "style" { silent += 1 }
            if Self.breaks.contains(name), !collected.isEmpty { collected.append(UInt8(ascii: "\n")) }
        }

        func close(_ name: String) {
            if name == "script" || name == "style" { silent -= 1 }
        }

        func text(_ piece: UnsafeBufferPointer<UInt8>) {
            if silent == 0 { collected.append(contentsOf: piece) }
        }
    }
}
