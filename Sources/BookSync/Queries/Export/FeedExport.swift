import BookModel
import CatalogFetcher
import Crypto
import Foundation
import LibraryFiles
import Transport

/// A book as a podcast feed (RSS 2.0 with the elements that podcast apps read) of the episodes that are on disk.
package struct FeedExport {
    /// Where what the feed names is to be had. None of them may hold a secret.
    package struct Addresses {
        /// Of the feed itself.
        var feed: String
        /// Of the book.
        var book: String
        var cover: String?
        var audio: (LocalFile) -> String
        /// Of an episode's ``ChapterDocument``; nil where none is to be had.
        var chapters: ((EpisodeIdentity) -> String)?
    }

    let book: ExportedBook
    let addresses: Addresses

    package init(_ book: ExportedBook, addresses: Addresses) {
        self.book = book
        self.addresses = addresses
    }

    /// Everything in the user's own files.
    /// - Parameter path: absolute; where the feed is to lie.
    init(_ book: ExportedBook, at path: String, cover: String? = nil) {
        self.book = book
        self.addresses = Addresses(
            feed: ExportPath.fileAddress(path), book: ExportPath.fileAddress(book.folderPath + "/"),
            cover: cover.map(ExportPath.fileAddress),
            audio: { ExportPath.fileAddress(book.absolutePath(of: $0)) })
    }

    private static let namespaces: KeyValuePairs = [
        "version": "2.0", "xmlns:atom": "http://www.w3.org/2005/Atom",
        "xmlns:itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd",
    ]
    private static let namespacesWithChapters: KeyValuePairs = [
        "version": "2.0", "xmlns:atom": "http://www.w3.org/2005/Atom",
        "xmlns:itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd",
        "xmlns:podcast": "https://podcastindex.org/namespace/1.0",
    ]

    package func bytes() throws -> [UInt8] {
        let book = book.book
        let writer = XMLWriter()
        writer.element("rss", addresses.chapters == nil ? Self.namespaces : Self.namespacesWithChapters) {
            writer.element("channel") {
                writer.element("title", text: book.title)
                writer.element("link", text: addresses.book)
                writer.element(
                    "atom:link", ["rel": "self", "type": "application/rss+xml", "href": addresses.feed])
                writer.element("description", text: book.summary.flatMap { $0.isEmpty ? nil : $0 } ?? book.title)
                writer.element("language", text: self.book.language ?? undeterminedLanguage)
                if let author = book.author, !author.isEmpty { writer.element("itunes:author", text: author) }
                writer.element("itunes:type", text: "serial")
                writer.element("itunes:explicit", text: "false")
                writer.element("itunes:category", ["text": "Arts"]) {
                    writer.element("itunes:category", ["text": "Books"])
                }
                if let cover { writer.element("itunes:image", ["href": cover]) }
                let files = self.book.files
                let dates = FeedDates.seconds(
                    of: files.map { shelved, file in
                        FeedDates.Moment(published: shelved.episode.publishedAt, fetched: file.fetchedAt)
                    })
                for ((shelved, file), date) in zip(files, dates) {
                    write(shelved, file, date: date, to: writer)
                }
            }
        }
        return try writer.finish()
    }

    /// The file beside the feed, else what the catalog names, if that is whole without secrets.
    private var cover: String? {
        if let cover = addresses.cover { return cover }
        guard let named = book.book.cover?.withoutSecrets, !named.contains("***") else { return nil }
        return named
    }

    /// - Parameter date: seconds since 1970.
    private func write(_ shelved: EpisodeRecord, _ file: LocalFile, date: Int64, to writer: XMLWriter) {
        let episode = shelved.episode
        writer.element("item") {
            writer.element("title", text: episode.name.isEmpty ? "\(episode.section)" : episode.name)
            writer.element("guid", ["isPermaLink": "false"], text: Self.guid(of: episode.identity))
            writer.element(
                "enclosure",
                [
                    "url": addresses.audio(file), "length": "\(file.size)",
                    "type": AudioExtension.mediaType(ofPath: file.path),
                ])
            writer.element("pubDate", text: Self.text(ofDate: date))
            if episode.section > 0 { writer.element("itunes:episode", text: "\(episode.section)") }
            if let season = episode.season, season > 0 { writer.element("itunes:season", text: "\(season)") }
            if let duration = shelved.duration, duration >= 1, duration < 1e9 {
                writer.element("itunes:duration", text: "\(Int(duration.rounded()))")
            }
            if shelved.media?.chapters ?? 0 > 0, let address = addresses.chapters?(episode.identity) {
                writer.element("podcast:chapters", ["url": address, "type": ChapterDocument.mediaType])
            }
        }
    }

    /// The same for ever, whatever the episode is called and wherever it lies. Keys may be addresses with secrets in
    /// them, so it is made of their digest.
    static func guid(of episode: EpisodeIdentity) -> String {
        "booksync-" + SHA256.hash(data: Array(episode.description.utf8)).prefix(16).hexadecimal
    }

    /// RFC 2822 §3.3, in UTC.
    private static func text(ofDate seconds: Int64) -> String {
        HTTPDate.text(seconds).replacing("GMT", with: "+0000")
    }
}
