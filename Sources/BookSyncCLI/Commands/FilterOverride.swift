import BookModel

extension EpisodeFilter {
    /// This filter with what another one asks for in its place.
    func overridden(by other: EpisodeFilter) -> EpisodeFilter {
        EpisodeFilter(
            only: other.only ?? only, latest: other.latest ?? latest, match: other.match ?? match,
            exclude: other.exclude ?? exclude, since: other.since ?? since)
    }
}
