import BookModel

// What `show` and `search` print as JSON, and the web API answers.

extension JSONDocument {
    /// Everything known of a book.
    package init(everythingOf shelved: BookSummary) {
        self = JSONDocument(shelved).adding([
            "summary": .init(shelved.book.summary), "cover": .init(shelved.book.cover?.withoutSecrets),
        ])
    }

    /// Everything known of an episode.
    package init(everythingOf episode: ShelfReader.EpisodeOnDisk) {
        let shelved = episode.shelved
        self = JSONDocument(episode).adding([
            "type": .init(shelved.episode.mediaType),
            "number": .init(shelved.episode.number),
            "season": .init(shelved.episode.season),
            "guid": .init(episode.shownGUID),
            "catalog_digest": .init(
                shelved.episode.digest.map { "\($0.algorithm.rawValue):\($0.hexadecimal)" }),
            "modified_at": .init(shelved.episode.modifiedAt),
            "catalog_size": .init(shelved.episode.size),
            "fetched_at": .init(shelved.file?.fetchedAt),
            "verified": .init(shelved.file?.verification.rawValue),
            "etag": .init((shelved.file?.validator ?? shelved.transfer?.validator)?.entityTag),
            "last_modified": .init((shelved.file?.validator ?? shelved.transfer?.validator)?.lastModified),
            "next_try_at": .init(shelved.transfer?.nextTryAt),
            "removed_at": .init(shelved.removedAt),
            "removed_by": .init(shelved.removedAt.map { _ in shelved.removedBy.rawValue }),
            "media": episode.media.map { JSONDocument($0) } ?? .null,
        ])
    }

    private init(_ media: MediaInfo) {
        self = [
            "container": .string(media.container), "codec": .string(media.codec), "bit_rate": .init(media.bitRate),
            "sample_rate": .init(media.sampleRate), "channels": .init(media.channels),
            "duration": .init(media.duration), "duration_estimated": .bool(media.isDurationEstimated),
            "cover": .bool(media.hasCover),
            "chapters_from": media.chapters.isEmpty
                ? .null : .string(media.hasCatalogChapters == true ? "catalog" : "file"),
            "tags": .array(
                media.tags.sorted { $0.key < $1.key }.map { ["name": .string($0.key), "text": .string($0.value)] }),
            "chapters": .array(
                media.chapters.map { ["start": .init($0.start), "end": .init($0.end), "title": .init($0.title)] }),
        ]
    }

    /// As `list` prints books and episodes, with what it is in front, and an episode with the title of its book.
    package init(_ item: FoundItem) {
        switch item {
        case .book(let shelved):
            self = (["kind": "book"] as JSONDocument).adding(JSONDocument(shelved))
        case .episode(let episode, let book):
            self = (["kind": "episode"] as JSONDocument)
                .adding(JSONDocument(episode))
                .adding(["book_title": .string(book.title)])
        }
    }
}

extension ShelfReader.EpisodeOnDisk {
    /// Often an address, and then perhaps a signed one.
    package var shownGUID: String? {
        shelved.episode.guid.map { $0.contains("://") ? ResourceAddress($0).withoutSecrets : $0 }
    }
}
