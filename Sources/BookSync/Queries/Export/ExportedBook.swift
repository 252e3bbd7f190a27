import BookModel
import Foundation

/// A book as it is exported.
package struct ExportedBook: Sendable {
    package var book: Book
    /// Those that are wanted, by section number.
    package var episodes: [EpisodeRecord]
    /// Absolute.
    package var library: String
    /// Of most of its files, relative to the library; "" for the library itself, nil while it has none.
    package var folder: String?

    /// The episodes that are on disk, with their files.
    var files: [(shelved: EpisodeRecord, file: LocalFile)] {
        episodes.compactMap { shelved in shelved.file.map { (shelved, $0) } }
    }

    /// Absolute; the library's where the book has none.
    package var folderPath: String { folder.map { $0.isEmpty ? library : library + "/" + $0 } ?? library }

    func absolutePath(of file: LocalFile) -> String { library + "/" + file.path }

    /// The book's name for readers of exported files.
    var shownIdentity: String { "\(book.identity.source):\(Self.shownID(book.identity.id))" }

    /// Ids may be addresses: what is secret in them stays here.
    static func shownID(_ id: String) -> String {
        id.contains("://") ? ResourceAddress(id).withoutSecrets : id
    }

    /// The language that the catalog says (BCP 47), or else the script of its names; nil for scripts that many languages
    /// write.
    var language: String? {
        if let language = book.language { return language }
        let names = [book.title, book.summary ?? ""] + episodes.prefix(20).map(\.episode.name)
        var hasChinese = false
        for scalar in names.joined().unicodeScalars {
            switch scalar.value {
            case 0x3041...0x3096, 0x30A1...0x30FA: return "ja"
            case 0xAC00...0xD7A3: return "ko"
            case 0x4E00...0x9FFF: hasChinese = true
            default: break
            }
        }
        return hasChinese ? "zh" : nil
    }
}

/// What stands for a language that is not known (ISO 639-2).
let undeterminedLanguage = "und"
