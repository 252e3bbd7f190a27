/// A rename that a run made and that was not taken back.
package struct PastRename: Sendable, Hashable {
    package var episode: EpisodeIdentity
    package var section: Int
    package var name: String
    /// Relative to the library.
    package var from: String
    package var to: String
    /// The episode's file as it is recorded now; nil when it has none.
    package var file: LocalFile?

    package init(episode: EpisodeIdentity, section: Int, name: String, from: String, to: String, file: LocalFile?) {
        self.episode = episode
        self.section = section
        self.name = name
        self.from = from
        self.to = to
        self.file = file
    }
}
