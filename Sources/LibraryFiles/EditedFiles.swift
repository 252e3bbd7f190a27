import BookModel

/// Files that somebody wrote to since they were fetched and that a run is to replace: each keeps a second name under
/// `.booksync/kept` (``Backups``), because the catalog's new version is no reason to lose the user's work.
package struct EditedFiles: Sendable {
    private let kept: Backups
    private var names: [EpisodeIdentity: String] = [:]

    package init(library: String) {
        kept = Backups(library: library)
    }

    /// To be called before the replacement begins.
    /// - Throws: ``Failure`` when the file cannot be kept: it must not be replaced then.
    package mutating func keep(_ file: LocalFile) async throws {
        names[file.episode] = try await kept.keep(file)
    }

    /// To be called when all transfers have ended. Takes back the second names of files that were not replaced.
    /// - Parameter replaced: the episodes whose files were.
    /// - Returns: a sentence for each file that was kept.
    package func finish(replaced: Set<EpisodeIdentity>) async -> [Message] {
        var notices: [Message] = []
        for (episode, name) in names.sorted(by: { $0.value < $1.value }) {
            guard replaced.contains(episode) else {
                do { try await kept.release(name) } catch {
                    // No reason to fail a run that has done its work.
                    notices.append("the file of \(episode) is also at \(name), and could not be taken away: \(error)")
                }
                continue
            }
            notices.append("the file of \(episode) was changed since it was fetched: what it was is kept as \(name)")
        }
        return notices
    }
}
