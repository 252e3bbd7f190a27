import BookModel

/// Episodes as comma-separated values (RFC 4180: CRLF, a header, quotes where they are needed), in UTF-8 without byte
/// order mark.
///
/// What a spreadsheet would take for a formula gets an apostrophe in front, which spreadsheets do not show.
package enum EpisodeTable {
    private static let columns = [
        "source", "book_id", "title", "author", "section", "id", "name", "state", "url", "size", "duration",
        "published_at", "path", "sha256",
    ]

    package static func text(of books: [ExportedBook]) -> String {
        var text = row(columns)
        for exported in books {
            let book = exported.book
            for shelved in exported.episodes {
                let episode = shelved.episode
                let shown = JSONDocument(shelved, bytesDone: 0)
                text += row(
                    columns.map { column in
                        switch column {
                        case "title": return safe(book.title)
                        case "author": return safe(book.author ?? "")
                        case "book_id": return safe(ExportedBook.shownID(book.identity.id))
                        case "id": return safe(ExportedBook.shownID(episode.identity.key))
                        case "name": return safe(episode.name)
                        default: return shown.cell(column)
                        }
                    })
            }
        }
        return text
    }

    private static func row(_ cells: [String]) -> String { cells.map(quoted).joined(separator: ",") + "\r\n" }

    private static func quoted(_ cell: String) -> String {
        guard cell.utf8.contains(where: { [0x22, 0x2C, 0x0D, 0x0A].contains($0) }) else { return cell }
        return "\"" + cell.replacing("\"", with: "\"\"") + "\""
    }

    /// https://owasp.org/www-community/attacks/CSV_Injection
    static func safe(_ text: String) -> String {
        guard let first = text.unicodeScalars.first,
            "=+-@\t\r\n\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}".unicodeScalars.contains(first)
        else { return text }
        return "'" + text
    }
}

extension JSONDocument {
    /// A member of an object as it stands in a table; numbers are none that anybody could have made a formula of.
    fileprivate func cell(_ key: String) -> String {
        guard case .object(let members) = self, let value = members.first(where: { $0.key == key })?.value else {
            return ""
        }
        switch value {
        case .null: return ""
        case .string(let text): return EpisodeTable.safe(text)
        default: return value.text()
        }
    }
}
