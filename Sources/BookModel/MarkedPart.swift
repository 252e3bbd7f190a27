/// Which episodes of a book are marked as played or as never listened to.
package enum MarkedPart: Sendable, Hashable {
    case whole
    /// One episode.
    case episode(EpisodeIdentity)
    /// All up to one, in the order of the book.
    case upTo(EpisodeIdentity)
}
