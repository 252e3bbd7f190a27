import BookModel

/// A library item as the server's API describes it: whole, or in short, as a library lists it.
struct AudiobookshelfItem {
    let id: String
    private let media: JSONValue
    private let description: BookDescription
    /// Those that the server counts to the book; none where it is described in short.
    private let tracks: [JSONValue]

    init?(_ value: JSONValue) {
        guard let id = CatalogText.id(value["id"]?.string), let media = value["media"],
            let metadata = media["metadata"]
        else { return nil }
        (self.id, self.media, description) = (id, media, BookDescription(metadata))
        tracks = (media["tracks"] ?? media["audioFiles"])?.elements.filter { $0["exclude"]?.source != "true" } ?? []
    }

    /// For a list of books; nil for what holds no audio: ebooks, podcasts.
    func entry(in source: String) -> CatalogEntry? {
        let count = media["numTracks"]?.integer.flatMap { Int(exactly: $0) } ?? tracks.count
        guard count > 0 else { return nil }
        var entry = CatalogEntry(BookIdentity(source: source, id: id), description)
        (entry.episodes, entry.seconds) = (count, media["duration"]?.double)
        entry.size = FileSize.sensible(media["size"]?.integer)
        return entry
    }

    /// - Throws: ``Failure`` of kind `unreadableCatalog` for what is no item, of kind `unknownBook` when there is nothing in it
    ///   to be heard.
    static func contents(
        of value: JSONValue, as identity: BookIdentity, at settings: AudiobookshelfSettings, for subject: ErrorContext
    ) throws -> CatalogContents {
        guard let item = Self(value) else { throw subject.unreadable(why: "the answer is no item of Audiobookshelf") }
        // Where the numbers of tracks are stale, the server answers to those of its files.
        let numbers = value["libraryFiles"]?.elements.compactMap { file in
            file["metadata"]?["relPath"]?.string.flatMap { path in file["ino"]?.text.map { (path, $0) } }
        }
        let byPath = Dictionary(numbers ?? []) { first, _ in first }
        let files = item.tracks.map { item.file($0, numbers: byPath, at: settings) }
        var contents = CatalogContents(
            identity, item.description, items: files.sorted { ($0.episode ?? .max) < ($1.episode ?? .max) })
        guard !contents.episodes.isEmpty else { throw subject.unknownBook(why: "the item holds no audio files") }
        if item.media["coverPath"]?.string != nil {
            contents.listing.description.cover = settings.address("items", item.id, "cover")
        }
        return contents
    }

    /// A file is known by its path in the book's folder. Its number (inode) changes with the disk, and is reused.
    private func file(
        _ track: JSONValue, numbers: [String: String], at settings: AudiobookshelfSettings
    ) -> FeedItem {
        let name = track["metadata"]?["filename"]?.string ?? ""
        let path = track["metadata"]?["relPath"]?.string
        var item = FeedItem()
        // Old servers tell a track's number in its address alone.
        let number =
            path.flatMap { numbers[$0] } ?? track["ino"]?.text
            ?? track["contentUrl"]?.string?.split(separator: "/").last.map(String.init)
        item.guid = path ?? number
        item.title = FeedText.name(FileRole.bareName(name), isHTML: false)
        item.episode = track["index"]?.text.flatMap(FeedText.number)
        item.duration = track["duration"]?.text.flatMap { CatalogDuration.seconds(parsing: $0) }
        item.media = FeedEnclosure(
            address: number.map { settings.address("items", id, "file", $0, "download").secretText },
            // The server's type does not tell a book in one file from a song.
            type: name.lowercased().hasSuffix(".m4b") ? "audio/x-m4b" : track["mimeType"]?.string,
            length: FileSize.sensible(track["metadata"]?["size"]?.integer))
        return item
    }
}
