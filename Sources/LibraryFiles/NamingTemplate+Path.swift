import BookModel
import Foundation

extension NamingTemplate {
    /// Where an episode's file belongs, relative to the library, with `/` between the parts. Every part is safe on
    /// every filesystem (``SafeName``) and has at most 240 bytes; what is too long is cut between characters, and the
    /// number and the extension stay.
    /// - Parameters:
    ///   - width: digits of `{section}` where the template sets none.
    ///   - extension: without its dot.
    package func path(for episode: Episode, of book: Book, width: Int, extension: String) -> String {
        path(for: episode, of: BookNames(book), width: width, extension: `extension`, suffix: "")
    }

    /// A book's part of the names, made safe once for all its episodes.
    struct BookNames {
        let author: String
        let title: String

        init(_ book: Book) {
            self.author = SafeName.text(book.author ?? "")
            let title = SafeName.text(book.title)
            // Without any folder of its own a book would spill over the library.
            self.title = SafeName.component(title).isEmpty ? SafeName.text("Book \(book.identity.id)") : title
        }
    }

    /// - Parameter suffix: put between name and extension, to tell twins apart.
    func path(
        for episode: Episode, of book: BookNames, width: Int, extension: String, suffix: String
    ) -> String {
        var values: [Field: String] = [
            .author: book.author, .title: book.title, .name: SafeName.text(episode.name),
            .id: SafeName.text(episode.identity.key),
        ]
        if usesDay, let published = episode.publishedAt {
            let day = published.formatted(Date.ISO8601FormatStyle().year().month().day())
            values[.published] = SafeName.text(day)
            values[.year] = SafeName.text(String(day.prefix { $0 != "-" }))
        }
        let number = PaddedNumber(value: episode.section, width: width)
        var components = folders.map {
            SafeName.component(Self.fitted($0, values: values, number: number, room: SafeName.byteLimit - 1))
        }
        let ending = suffix + Self.ending(`extension`)
        // One byte is left for the mark that a device's name gets.
        let room = SafeName.byteLimit - 1 - ending.utf8.count
        var name = SafeName.component(Self.fitted(stem, values: values, number: number, room: room))
        if name.isEmpty { name = number.text(nil) }
        components.append(SafeName.component(name + ending))
        return components.filter { !$0.isEmpty }.joined(separator: "/")
    }

    private static func ending(_ text: String) -> String {
        let letters = text.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) }.prefix(8)
        return letters.isEmpty ? "" : "." + letters
    }

    struct PaddedNumber {
        let value: Int
        let width: Int

        /// - Parameter fixed: the width that the template sets.
        func text(_ fixed: Int?) -> String {
            let digits = String(value.magnitude)
            let zeros = String(repeating: "0", count: max(0, (fixed ?? width) - digits.count))
            return (value < 0 ? "-" : "") + zeros + digits
        }
    }

    /// The component within so many bytes: the fields that carry text give way, the least telling one last.
    private static func fitted(
        _ parts: [Part], values: [Field: String], number: PaddedNumber, room: Int
    ) -> String {
        var values = values
        var text = rendered(parts, values: values, number: number)
        for field in [Field.name, .title, .author, .id] {
            let excess = text.utf8.count - room
            guard excess > 0 else { return text }
            guard let value = values[field], parts.contains(where: { $0.field == field }) else { continue }
            values[field] = SafeName.cut(value, toBytes: max(0, value.utf8.count - excess))
            text = rendered(parts, values: values, number: number)
        }
        return text
    }

    /// The component with its fields filled in. An empty field takes the brackets around it along, and the separator
    /// before it, or after it where it is the first.
    private static func rendered(_ parts: [Part], values: [Field: String], number: PaddedNumber) -> String {
        var text = ""
        var dropsSeparator = false
        var closing: Character?
        for part in parts {
            switch part {
            case .literal(let literal):
                var literal = literal[...]
                if let mark = closing, literal.first == mark { literal.removeFirst() }
                closing = nil
                if dropsSeparator { literal = literal.drop(while: isSeparator) }
                dropsSeparator = false
                text += literal
            case .field(.section, let width):
                text += number.text(width)
                (dropsSeparator, closing) = (false, nil)
            case .field(let field, _):
                let value = values[field] ?? ""
                text += value
                (dropsSeparator, closing) = (false, nil)
                guard value.isEmpty else { continue }
                if let opening = text.last, let mark = brackets[opening] {
                    text.removeLast()
                    closing = mark
                }
                while let last = text.last, isSeparator(last) { text.removeLast() }
                dropsSeparator = text.isEmpty
            }
        }
        return text
    }

    private static let brackets: [Character: Character] = [
        "(": ")", "[": "]", "（": "）", "【": "】", "《": "》", "「": "」",
    ]

    private static func isSeparator(_ character: Character) -> Bool {
        " -_,–—·.".contains(character)
    }
}
