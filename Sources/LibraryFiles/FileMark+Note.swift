import BookModel
import Foundation

/// A mark is kept in the file's note.
extension FileMark {
    /// The mark of an open file; nil where there is none.
    package init?(of descriptor: CInt) {
        guard let note = FileNote(of: descriptor), let episode = note[.episode], let sha256 = note[.sha256],
            case .success(let words) = Result(catching: {
                try JSONDecoder().decode([String].self, from: Data(episode.utf8))
            }), words.count == 3
        else { return nil }
        self.init(
            episode: EpisodeIdentity(book: BookIdentity(source: words[0], id: words[1]), key: words[2]), sha256: sha256,
            address: note[.address], original: note[.original].flatMap(Original.init))
    }

    /// Writes the mark. A filesystem without such attributes, or without room for them, keeps none: nothing but the search
    /// for files after the loss of a store misses them.
    /// - Parameter note: what else the file says of itself.
    package func write(to descriptor: CInt, beside note: FileNote = FileNote()) {
        // Catalogs' ids may have any characters.
        let names = [episode.book.source, episode.book.id, episode.key].map(JSONDocument.string)
        // Some filesystems have room for short ones alone.
        for (rest, address) in [(note, address), (note, nil), (FileNote(), nil)] {
            var note = rest
            (note[.episode], note[.sha256]) = (JSONDocument.array(names).text(), sha256)
            (note[.address], note[.original]) = (address, original?.text)
            if note.write(to: descriptor) { return }
        }
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
