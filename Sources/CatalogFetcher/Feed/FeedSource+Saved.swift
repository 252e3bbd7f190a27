import BookModel

extension FeedSource: SavedAnswerReader {
    package static func recognises(_ answer: SavedAnswer) -> Bool { FeedReader.recognises(answer.bytes) }

    package static func read(_ answer: SavedAnswer, as book: BookIdentity) throws -> SavedListing {
        let charset = answer.contentType.flatMap(Encoding.charset)
        switch FeedReader.read(answer.bytes, charset: charset, base: answer.address?.secretText) {
        case .foreign(let why, _):
            throw Failure(
                .unreadableCatalog, what: "the saved answer cannot be read as a feed", why: why,
                remedy: "name the file of an RSS or Atom feed")
        case .feed(let document):
            var listing = FeedListing()
            _ = listing.add(document)
            if document.next != nil {
                listing.troubles.append("the feed goes on on further pages, which were not saved")
            }
            let episodes = listing.episodes(of: book)
            return SavedListing(episodes: episodes, listing: listing.listing(count: episodes.count))
        }
    }
}
