import Foundation

/// A durable change of an episode's file in the library: recorded before the file is moved, and done once the store says where it
/// is. What is done can be taken back, as long as it is remembered.
package struct FileOperation: Sendable, Hashable {
    package enum Kind: String, Sendable {
        /// The file gets another name.
        case rename
        /// The file goes to the trash, because its episode was removed.
        case trash
        /// The file goes to the trash, because another one takes its place.
        case replace
        /// A file takes its place in the library, whatever stood there.
        case publish
    }

    package enum State: String, Sendable {
        case begun
        case done
        /// It is being taken back.
        case reversing
    }

    /// Of its record in the store.
    package let number: Int64
    package let kind: Kind
    package var state: State
    /// When the command or the run began that it belongs to: the same for all that one of them did.
    package let batch: Date
    /// When it was done; nil while it is under way.
    package let doneAt: Date?
    package let section: Int
    package let name: String
    /// The book's, as the catalog has it.
    package let title: String
    /// As it was recorded before, at the path that it had; of one that is published, as it is to be recorded.
    package var file: LocalFile
    /// Where the file is afterwards, relative to the library.
    package let to: String
    /// What is recorded of the episode's file now.
    package let current: LocalFile?
    /// The name of its library; nil where only one is looked at.
    package var library: String?

    package init(
        number: Int64, kind: Kind, state: State, batch: Date, doneAt: Date? = nil, section: Int, name: String,
        title: String, file: LocalFile, to: String, current: LocalFile? = nil
    ) {
        (self.number, self.kind, self.state, self.batch, self.doneAt) = (number, kind, state, batch, doneAt)
        (self.section, self.name, self.title) = (section, name, title)
        (self.file, self.to, self.current) = (file, to, current)
    }

    package var episode: EpisodeIdentity { file.episode }

    /// The file as it comes back from the trash: in the place of the one that the episode has by now. What the catalog says
    /// already is no reason for the next run to replace it again.
    package var restored: LocalFile {
        guard kind != .rename, let current else { return file }
        var restored = file
        (restored.path, restored.isNamedByUser) = (current.path, current.isNamedByUser)
        (restored.catalogSize, restored.catalogModifiedAt) = (current.catalogSize, current.catalogModifiedAt)
        return restored
    }

    /// The file that is moved, as it is recorded.
    package var moving: LocalFile { kind == .rename ? current ?? file : file }
    /// Whether a file is published that is none that the episode had before: one that gets tags stays as old as it is.
    package var isNew: Bool { kind == .publish && current?.fetchedAt != file.fetchedAt }
    /// Whether that was fetched: what is adopted comes from no address.
    package var isDownload: Bool { isNew && file.fetchedFrom != nil }
    /// From where it is moved now, and to where, relative to the library.
    package var source: String { state == .reversing ? to : file.path }
    package var target: String { state == .reversing ? restored.path : to }

    /// That it could not be carried out.
    package func report(_ failure: Failure) -> FailureReport {
        FailureReport(book: episode.book, episode: episode, section: section, name: name, failure: failure)
    }
}
