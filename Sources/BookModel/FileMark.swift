/// What a published file says of itself, beside its bytes: it tells whose it is when the store is lost.
///
/// It speaks of the bytes that were published; whether they are still the same, their digest tells.
package struct FileMark: Sendable, Hashable {
    package var episode: EpisodeIdentity
    /// Lower-case hexadecimal.
    package var sha256: String
    /// The address that the bytes came from, without secrets; nil where nobody noted it.
    package var address: String?

    package init(episode: EpisodeIdentity, sha256: String, address: String? = nil) {
        self.episode = episode
        self.sha256 = sha256
        self.address = address
    }
}
