import BookModel

extension OPMLDocument {
    /// The document as OPML 2.0 with its folders: a feed that lies in several stands in each.
    /// - Throws: ``Failure`` of kind `defect`.
    package func bytes() throws -> [UInt8] {
        var root = Folder(name: "")
        for (index, feed) in feeds.enumerated() {
            for tag in feed.tags { root.add(index, at: tag.path[...]) }
            if feed.tags.isEmpty { root.feeds.append(index) }
        }
        let writer = XMLWriter()
        writer.element("opml", attributes: [("version", "2.0"), ("xmlns:booksync", Self.namespace)]) {
            writer.element("head") { writer.element("title", text: title ?? "booksync") }
            for note in notes { writer.comment(note) }
            writer.element("body") { write(root, to: writer) }
        }
        return try writer.finish()
    }

    private struct Folder {
        var name: String
        var folders: [Folder] = []
        /// Where each name is among the folders.
        var indices: [String: Int] = [:]
        /// Their indices among the document's feeds.
        var feeds: [Int] = []

        mutating func add(_ feed: Int, at path: ArraySlice<String>) {
            guard let first = path.first else { return feeds.append(feed) }
            let index = indices[first] ?? folders.count
            if index == folders.count {
                folders.append(Folder(name: first))
                indices[first] = index
            }
            folders[index].add(feed, at: path.dropFirst())
        }
    }

    private func write(_ folder: Folder, to writer: XMLWriter) {
        for index in folder.feeds { writer.element("outline", attributes: feeds[index].attributes) }
        for inner in folder.folders {
            writer.element("outline", attributes: [("text", inner.name)]) { write(inner, to: writer) }
        }
    }
}

extension OPMLFeed {
    fileprivate var attributes: [(name: String, value: String)] {
        var attributes: [(name: String, value: String)] = []
        // Whole or not at all: with a part masked it leads nowhere.
        let address = address.flatMap {
            FeedSettings.isWholeAddress(FeedSettings.bookID(of: $0)) ? $0.secretText : nil
        }
        if address != nil { attributes.append(("type", "rss")) }
        attributes.append(("text", title ?? address ?? booksync?.book.id ?? ""))
        if let address { attributes.append(("xmlUrl", address)) }
        guard let booksync else { return attributes }
        let own = [
            ("book", booksync.book.description), ("title", booksync.title),
            ("only", booksync.filter.only?.description), ("latest", booksync.filter.latest.map { "\($0)" }),
            ("match", booksync.filter.match), ("exclude", booksync.filter.exclude),
            ("since", booksync.filter.since?.description), ("order", booksync.order?.rawValue),
            ("maxEpisodes", booksync.limits.episodes.map { "\($0)" }),
            ("maxBytes", booksync.limits.bytes.map { "\($0)" }), ("naming", booksync.naming),
            ("keep", booksync.keep?.text), ("maxSize", booksync.keep?.maxBytes.map { "\($0)" }),
            ("language", booksync.collection.language), ("minHours", booksync.collection.minHours.map { "\($0)" }),
            ("maxBooks", booksync.collection.maxBooks.map { "\($0)" }),
        ]
        return attributes + own.compactMap { name, value in value.map { ("booksync:\(name)", $0) } }
    }
}
