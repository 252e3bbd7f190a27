import BookModel
import CatalogFetcher
import CatalogStore
import Foundation
import LibraryFiles
import Logging
import Settings
import Transport

/// What a catalog lists, asked now or read from a saved answer. Nothing is stored.
package struct CatalogPreview: Sendable {
    package var kind: SourceKind
    package var book: Book
    /// What the catalog itself says of the book; nil where it says nothing.
    package var description: BookDescription
    /// In the order of the catalog.
    package var episodes: [Episode]
    package var proof: ListingProof

    private static let maxFile = 256 << 20

    /// Asks the book's catalog.
    ///
    /// - Throws: ``Failure``; `CancellationError`.
    package init(of book: BookIdentity, configuration: Configuration, logger: Logger) async throws {
        let (episodes, listing) = try await withHTTPTransport(
            options: configuration.transportOptions, logger: logger
        ) { transport in
            var episodes: [Episode] = []
            let listing = try await configuration.catalogSource(for: book, transport: transport).list(book) {
                episodes += $0.episodes
            }
            return (episodes, listing)
        }
        self.init(
            CatalogContents(identity: book, episodes: episodes, listing: listing),
            of: try configuration.requireSource(of: book)?.kind ?? .bookResource)
    }

    /// Reads a saved answer.
    ///
    /// - Parameters:
    ///   - path: of the file.
    ///   - kind: what it is an answer of; nil tells it from the answer.
    /// - Throws: ``Failure`` of kind `unreadableCatalog`, `unknownBook` or `inputOutput`.
    package init(file path: String, kind: SourceKind?, configuration: Configuration) async throws {
        let bytes = try await runBlocking {
            try InputFile.bytes(of: path, isFile: true, named: Message(verbatim: path), upTo: Self.maxFile)
        }
        let answer = CatalogResponse(bytes: bytes)
        guard let kind = kind ?? SourceKind.recognitionOrder.first(where: { $0.format.bookID(in: answer) != nil })
        else {
            throw Failure(
                .unreadableCatalog, what: "\(path) cannot be read as a catalog's answer",
                why: "it is no feed, archive item, LibriVox book, book-resource page, OPDS publication or directory",
                remedy: "say what it is with --type, or look into it")
        }
        let sources = configuration.sources.values.filter { $0.kind == kind }.sorted { $0.name < $1.name }
        var source = sources.first ?? SourceConfiguration(name: kind.rawValue, kind: kind)
        if kind.needsAddress, source.url == nil { source.url = ResourceAddress("http://catalog.invalid/") }
        self.init(try source.settings().read(answer, source: source.name, id: nil), of: kind)
    }

    /// With the numbers that a first run would store.
    private init(_ contents: CatalogContents, of kind: SourceKind) {
        var resolver = EpisodeResolver(known: [])
        self.kind = kind
        self.book = contents.book
        self.description = contents.listing.description
        self.episodes = resolver.resolve(contents.episodes)
        self.proof = contents.listing.proof
    }
}

extension JSONDocument {
    package init(_ preview: CatalogPreview) {
        self = [
            "book": [
                "source": .string(preview.book.identity.source),
                "id": .string(preview.book.identity.id),
                "title": .init(preview.description.title),
                "author": .init(preview.description.author),
                "announcer": .init(preview.description.narrator),
                "summary": .init(preview.description.summary),
                "cover": .init(preview.description.cover?.withoutSecrets),
            ],
            "type": .string(preview.kind.rawValue),
            "complete": .bool(preview.proof.isComplete),
            "declared": .init(preview.proof.declared),
            "warnings": .array(preview.proof.warnings.map { .string($0.description) }),
            "episodes": .array(
                preview.episodes.map { episode in
                    JSONDocument(EpisodeRecord(episode: episode), bytesDone: 0).adding([
                        "type": .init(episode.mediaType),
                        "number": .init(episode.number),
                        "season": .init(episode.season),
                        "guid": .init(episode.guid),
                    ])
                }),
        ]
    }
}
