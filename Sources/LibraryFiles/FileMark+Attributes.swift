import BookModel
import Foundation

/// A mark is kept in extended attributes.
extension FileMark {
    /// The mark of an open file; nil where there is none.
    package init?(of descriptor: CInt) {
        guard let episode = ExtendedAttribute.episode.value(of: descriptor),
            let sha256 = ExtendedAttribute.sha256.value(of: descriptor),
            case .success(let words) = Result(catching: {
                try JSONDecoder().decode([String].self, from: Data(episode.utf8))
            }), words.count == 3
        else { return nil }
        self.init(
            episode: EpisodeIdentity(book: BookIdentity(source: words[0], id: words[1]), key: words[2]), sha256: sha256,
            address: ExtendedAttribute.address.value(of: descriptor))
    }

    /// Writes the mark. A file system without such attributes, or without room for them, keeps none: nothing but the search
    /// for files after the loss of a store misses them.
    package func write(to descriptor: CInt) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        let words = try encoder.encode([episode.book.source, episode.book.id, episode.key])
        ExtendedAttribute.episode.set(to: String(decoding: words, as: UTF8.self), of: descriptor)
        ExtendedAttribute.sha256.set(to: sha256, of: descriptor)
        if let address { ExtendedAttribute.address.set(to: address, of: descriptor) }
    }
}
