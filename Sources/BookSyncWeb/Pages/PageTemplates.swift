import BookModel
import Mustache

/// The templates of the pages, read once for each language with its phrases in them.
struct PageTemplates: Sendable {
    private let libraries: [Language: MustacheLibrary]

    private static let names = [
        "actions", "book", "discover", "doctor", "episode", "found", "layout", "login", "pager", "play", "player",
        "queue", "rows", "runs", "search", "shelf", "subscriptions", "trouble",
    ]

    /// - Throws: ``Failure`` of kind `defect` when a template is none.
    init() throws {
        MustacheContentTypes.register(MarkupText(), named: "MARKUP")
        libraries = try Dictionary(
            uniqueKeysWithValues: Language.allCases.map { language in
                (language, try Self.library(Strings(language)))
            })
    }

    private static func library(_ phrases: Strings) throws -> MustacheLibrary {
        var library = MustacheLibrary()
        for name in names {
            let text = try replacing(in: EmbeddedFile.text("\(name).mustache"), phrases)
            do {
                try library.register(Self.marked(text), named: name)
            } catch {
                throw Failure(.defect, disposition: .stop, what: "the page \(name) cannot be made", why: "\(error)")
            }
        }
        return library
    }

    /// Has what is filled in escaped as ``MarkupText`` does.
    private static func marked(_ template: String) -> String { "{{% CONTENT_TYPE:MARKUP}}" + template }

    /// What one template makes of a model.
    static func text(of template: String, with fields: [String: Any]) throws -> String {
        MustacheContentTypes.register(MarkupText(), named: "MARKUP")
        return try MustacheTemplate(string: marked(template)).render(fields)
    }

    /// Puts the language's words in place of `{{phrase.NAME}}`.
    private static func replacing(in text: String, _ phrases: Strings) throws -> String {
        var parts = text.split(separator: "{{phrase.", omittingEmptySubsequences: false)[...]
        var result = String(parts.removeFirst())
        for part in parts {
            guard let end = part.firstRange(of: "}}"), let text = phrases.text(named: String(part[..<end.lowerBound]))
            else {
                throw Failure(
                    .defect, disposition: .stop, what: "a page cannot be made",
                    why: "it has no phrase '\(part.prefix { $0 != "}" })'")
            }
            result += MarkupText.escaped(text) + part[end.upperBound...]
        }
        return result
    }

    /// - Parameter name: of a template.
    /// - Throws: ``Failure`` of kind `defect` when there is no such template.
    func render(_ fields: [String: Any], with name: String, in language: Language) throws -> String {
        if let text = libraries[language]?.render(fields, withTemplate: name) { return text }
        throw Failure(.defect, what: "a page cannot be made", why: "there is no template '\(name)'")
    }
}

/// Text that stands in HTML, between tags or in a quoted attribute.
///
/// Characters are looked at one code point at a time, as browsers read them: a quotation mark with an accent on it is one
/// character to Swift, and a quotation mark to HTML (WHATWG HTML §13.2.5.36).
struct MarkupText: MustacheContentType {
    func escapeText(_ text: String) -> String { Self.escaped(text) }

    static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: isSpecial) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "<"): bytes += Array("&lt;".utf8)
            case UInt8(ascii: ">"): bytes += Array("&gt;".utf8)
            case UInt8(ascii: "&"): bytes += Array("&amp;".utf8)
            case UInt8(ascii: "\""): bytes += Array("&quot;".utf8)
            case UInt8(ascii: "'"): bytes += Array("&#39;".utf8)
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"), UInt8(ascii: "\""), UInt8(ascii: "'"): true
        default: false
        }
    }
}
