import AudioFiles
import BookModel
import CatalogStore
import Foundation
import LibraryFiles
import Settings

/// Embeds in the files of books what the catalog says of them, or puts back what was fetched.
package struct BookTagging: Sendable {
    package enum Work: Sendable {
        case embed
        case restore
        /// Only says what would be embedded.
        case plan
    }

    /// What became of a file.
    package struct Outcome: Sendable {
        package let episode: Episode
        package let file: LocalFile
        package let result: Result<FileTagging.Outcome, Failure>
    }

    private let configuration: Configuration
    private let session: LibrarySession
    private let tagging: FileTagging

    /// - Parameter copies: whether files with other names elsewhere get tags too.
    package init(configuration: Configuration, session: LibrarySession, media: MediaProbe, copies: Bool = false) {
        (self.configuration, self.session) = (configuration, session)
        tagging = FileTagging(media, library: session.folder.path, store: session.store, copies: copies)
    }

    /// - Parameter time: only files that were fetched since then, and have no embedded tags; nil for all.
    /// - Throws: ``Failure`` where the book is not on the shelf, or nothing more can be done; `CancellationError`.
    package func execute(
        _ work: Work, of book: BookIdentity, filter: EpisodeFilter = .init(), since time: Date? = nil,
        onOutcome: (Outcome) async -> Void
    ) async throws {
        let (library, store) = (session.folder.path, session.store)
        guard let exported = try await ExportedBook(book, filter: .init(), library: library, store: store) else {
            throw Failure.notOnTheShelf(book)
        }
        let export = BookExport(configuration: configuration, library: library, store: store)
        let cover = try await export.coverPath(of: exported)
        let selected = exported.episodes.selected(by: filter)
        guard !selected.isEmpty || filter.isEmpty else { throw Failure.noSuchEpisode(of: book) }
        for shelved in selected {
            guard var file = shelved.file else { continue }
            if let time, file.original != nil || file.fetchedAt < time { continue }
            try Task.checkCancellation()
            if let retagged = try await RetaggedFiles.records(of: [file], in: library)[file.episode] {
                if work != .plan { try await store.updateFiles([retagged]) }
                file = retagged
            }
            var tags = EmbeddedTags(of: shelved.episode, of: exported.book, count: exported.episodes.count)
            tags.cover = cover
            do {
                let outcome: FileTagging.Outcome =
                    switch work {
                    case .embed: try await tagging.embed(tags, in: file, promised: shelved.episode.digest)
                    case .restore: try await tagging.restore(file)
                    case .plan: .tagged(try await tagging.missing(tags, in: file))
                    }
                await onOutcome(Outcome(episode: shelved.episode, file: file, result: .success(outcome)))
            } catch let failure as Failure where failure.disposition != .stop {
                await onOutcome(Outcome(episode: shelved.episode, file: file, result: .failure(failure)))
            }
        }
    }
}
