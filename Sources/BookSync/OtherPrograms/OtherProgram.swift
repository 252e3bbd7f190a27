/// A program whose records of what it fetched booksync takes over.
package enum OtherProgram: String, Sendable, CaseIterable {
    case ytDlp = "yt-dlp"
    case podcastDl = "podcast-dl"
    case gPodder = "gpodder"
    case audiobookshelf
    case castget

    /// Where its records are when nobody moved them; nil where the user chooses.
    package func usualPath(environment: [String: String]) -> String? {
        guard let home = environment["HOME"] else { return nil }
        return switch self {
        case .gPodder: (environment["GPODDER_HOME"] ?? home + "/gPodder") + "/Database"
        case .castget: home + "/.castgetrc"
        case .ytDlp, .podcastDl, .audiobookshelf: nil
        }
    }
}
