/// Something on the shelf that a search found.
package enum SearchHit: Sendable, Hashable {
    case book(ShelvedBook)
    case episode(ShelvedEpisode, of: Book)
}
