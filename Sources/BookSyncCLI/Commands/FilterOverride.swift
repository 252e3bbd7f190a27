import BookModel

extension EpisodeFilter {
    /// This filter with what another one asks for in its place.
    func overridden(by other: EpisodeFilter) -> EpisodeFilter {
        EpisodeFilter(
            only: other.only ?? only, latest: other.latest ?? latest, match: other.match ?? match,
            exclude: other.exclude ?? exclude)
    }

    /// The filter that lets through what either of them does; nil where no single filter says that.
    func united(with other: EpisodeFilter) -> EpisodeFilter? {
        guard match == other.match, exclude == other.exclude else { return nil }
        var united = self
        if latest == other.latest {
            united.only = only.flatMap { mine in
                other.only.map { SectionRanges(mine.ranges + $0.ranges.filter { !mine.ranges.contains($0) }) }
            }
            return united
        }
        if only == other.only {
            united.latest = latest.flatMap { mine in other.latest.map { max(mine, $0) } }
            return united
        }
        return [self, other].first { $0.only == nil && $0.latest == nil }
    }
}
