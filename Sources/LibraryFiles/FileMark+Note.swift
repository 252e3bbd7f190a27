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
            address: ExtendedAttribute.address.value(of: descriptor),
            original: ExtendedAttribute.original.value(of: descriptor).flatMap(Original.init))
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
        if let original { ExtendedAttribute.original.set(to: original.text, of: descriptor) }
    }
}

extension FileMark.Original {
    /// Size, SHA-256, that of the stream, and the catalog's digest with its algorithm in front, as far as there is one.
    fileprivate var text: String {
        let digest = promised.map { " \($0.algorithm) \($0.hexadecimal)" } ?? ""
        return "\(file.size) \(file.sha256) \(file.streamSHA256)\(digest)"
    }

    fileprivate init?(_ text: String) {
        let words = text.split(separator: " ").map(String.init)
        guard words.count == 3 || words.count == 5, let size = Int64(words[0]) else { return nil }
        self.init(LocalFile.Original(size: size, sha256: words[1], streamSHA256: words[2]))
        guard words.count == 5, let algorithm = ContentDigest.Algorithm(rawValue: words[3]) else { return }
        promised = ContentDigest(algorithm: algorithm, hexadecimal: words[4])
    }
}
