import BookModel
import CFileSystem
import Foundation

/// A mark is kept in extended attributes: it goes where the file goes, also with `cp -a` and `rsync -X`.
extension FileMark {
    private enum Attribute: String {
        /// Source, book and key, as a JSON array.
        case episode = "user.booksync.episode"
        case sha256 = "user.booksync.sha256"
        case address = "user.booksync.address"
    }

    /// The mark of an open file; nil where there is none.
    package init?(of descriptor: CInt) {
        guard let episode = Self.value(of: .episode, at: descriptor),
            let sha256 = Self.value(of: .sha256, at: descriptor),
            case .success(let words) = Result(catching: {
                try JSONDecoder().decode([String].self, from: Data(episode.utf8))
            }), words.count == 3
        else { return nil }
        self.init(
            episode: EpisodeIdentity(book: BookIdentity(source: words[0], id: words[1]), key: words[2]), sha256: sha256,
            address: Self.value(of: .address, at: descriptor))
    }

    /// Writes the mark. A file system without such attributes, or without room for them, keeps none: nothing but the search
    /// for files after the loss of a store misses them.
    package func write(to descriptor: CInt) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        let words = try encoder.encode([episode.book.source, episode.book.id, episode.key])
        Self.set(.episode, to: String(decoding: words, as: UTF8.self), at: descriptor)
        Self.set(.sha256, to: sha256, at: descriptor)
        if let address { Self.set(.address, to: address, at: descriptor) }
    }

    private static func set(_ attribute: Attribute, to value: String, at descriptor: CInt) {
        let bytes = Array(value.utf8)
        _ = booksync_set_attribute(descriptor, attribute.rawValue, bytes, bytes.count)
    }

    private static func value(of attribute: Attribute, at descriptor: CInt) -> String? {
        let size = booksync_get_attribute(descriptor, attribute.rawValue, nil, 0)
        guard size > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: size)
        guard booksync_get_attribute(descriptor, attribute.rawValue, &bytes, size) == size else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
