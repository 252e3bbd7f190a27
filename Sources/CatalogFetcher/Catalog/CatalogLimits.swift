/// What no honest catalog exceeds.
enum CatalogLimits {
    /// Episodes of one book; the longest known has some ten thousand.
    static let maxEpisodes = 200_000
}
