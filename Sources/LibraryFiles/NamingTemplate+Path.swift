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
        path(for: episode, of: BookNames(book, template: self), width: width, extension: `extension`, suffix: "")
    }

    /// A book's part of the names, made safe once for all its episodes.
    struct BookNames {
        /// Those of the book; without ``Field/name``, ``Field/section`` and what else depends on the episode.
        let values: [Field: String]
        /// Whether a number that an episode's name begins with is left out (``LeadingNumber``).
        var dropsNumbers = false

        init(_ book: Book, template: NamingTemplate) {
            let title = SafeName.text(book.title)
            var values: [Field: String] = [
                .author: SafeName.text(book.author ?? ""),
                // Without any folder of its own a book would spill over the library.
                .title: SafeName.component(title).isEmpty ? SafeName.text("Book \(book.identity.id)") : title,
            ]
            if template.usesMore { values[.narrator] = SafeName.text(book.narrator ?? "") }
            // It never was filled while there was neither `{part}` nor a condition: templates of that time are to rename nothing.
            let readsSeries =
                template.fields.contains(.part) || template.conditions.contains { [.part, .series].contains($0) }
            if readsSeries, let series = SeriesTitle(book.title) {
                values[.series] = SafeName.text(series.name)
                values[.part] = series.part
            }
            self.values = values
        }
    }

    /// Whether files sort by `{section}` wherever they have a name.
    var putsSectionFirst: Bool {
        layouts.allSatisfy { layout in
            let fields = layout.stem.compactMap(\.field)
            return fields.firstIndex(of: .section) ?? .max < fields.firstIndex(of: .name) ?? .max
        }
    }

    /// - Parameter suffix: put between name and extension, to tell twins apart.
    func path(
        for episode: Episode, of book: BookNames, width: Int, extension: String, suffix: String
    ) -> String {
        var values = book.values
        let numberless = book.dropsNumbers ? LeadingNumber(of: episode.name)?.rest : nil
        values[.name] = SafeName.text(numberless ?? episode.name)
        values[.id] = SafeName.text(episode.identity.key)
        if usesMore {
            if let disc = episode.season, disc > 0 { values[.disc] = "\(disc)" }
            values[.filename] = SafeName.text(episode.address?.fileName ?? "")
            if let published = episode.publishedAt {
                let day = published.formatted(Date.ISO8601FormatStyle().year().month().day())
                values[.published] = SafeName.text(day)
                values[.year] = SafeName.text(String(day.prefix { $0 != "-" }))
            }
        }
        let layout = layout(for: values)
        let number = PaddedNumber(value: episode.section, width: width)
        var components = layout.folders.map {
            SafeName.component(Self.fitted($0, values: values, number: number, room: SafeName.byteLimit - 1))
        }
        let ending = suffix + Self.ending(`extension`)
        // One byte is left for the mark that a device's name gets.
        let room = SafeName.byteLimit - 1 - ending.utf8.count
        var name = SafeName.component(Self.fitted(layout.stem, values: values, number: number, room: room))
        if name.isEmpty { name = number.text(nil) }
        components.append(SafeName.component(name + ending))
        return components.filter { !$0.isEmpty }.joined(separator: "/")
    }

    /// What the conditions leave of the template.
    private func layout(for values: [Field: String]) -> Layout {
        let filled = conditions.indices.filter { values[conditions[$0]]?.isEmpty == false }
        return layouts[filled.reduce(0) { $0 | 1 << $1 }]
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
        for field in [Field.name, .filename, .title, .series, .narrator, .author, .id] {
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
            case .slash, .condition: continue
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

extension ResourceAddress {
    /// The last segment of the path without an extension of audio, decoded as far as it is text. The query, a user and
    /// a password have no part in it.
    fileprivate var fileName: String {
        let path = withoutSecrets.prefix { $0 != "?" && $0 != "#" }
        let segments = (path.firstRange(of: "://").map { path[$0.upperBound...].drop { $0 != "/" } } ?? path)
            .split(separator: "/")
        guard let last = segments.last.map(String.init) else { return "" }
        let name = last.removingPercentEncoding ?? last
        guard AudioExtension.knownMediaType(ofPath: name) != nil, let dot = name.lastIndex(of: ".") else { return name }
        return String(name[..<dot])
    }
}
