import BookModel
import Foundation
import LibraryFiles

extension EmbeddedTags {
    /// Genre of all that booksync fetches.
    private static let genre = "Audiobook"

    /// What the catalog says of a book.
    package init(of book: Book) {
        var tags = ["album": book.title, "genre": Self.genre]
        tags["artist"] = book.author
        tags["album_artist"] = book.author
        tags["composer"] = book.narrator
        // ISO 639-2, as ID3v2's TLAN and MP4 have it.
        tags["language"] = book.language.flatMap { Locale.Language(identifier: $0).languageCode?.identifier(.alpha3) }
        if let series = SeriesTitle(book.title) { (tags["series"], tags["series-part"]) = (series.name, series.part) }
        self.init(tags: tags.filter { !$0.value.isEmpty })
    }

    /// What the catalog says of an episode of a book.
    /// - Parameter count: how many episodes the book has.
    package init(of episode: Episode, of book: Book, count: Int) {
        self.init(of: book)
        tags["title"] = episode.name
        tags["track"] = count >= episode.section ? "\(episode.section)/\(count)" : "\(episode.section)"
        tags["disc"] = episode.season.map { "\($0)" }
        tags["date"] = episode.publishedAt.map { $0.formatted(.iso8601.year().month().day()) }
    }
}
