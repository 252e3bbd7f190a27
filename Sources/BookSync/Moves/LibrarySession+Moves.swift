import BookModel
import CatalogStore
import LibraryFiles

extension LibrarySession {
    /// Finishes or takes back the moves of books between this library and others that were interrupted.
    /// - Returns: a sentence for each.
    /// - Throws: ``Failure`` of kind `libraryUnwritable` where the other library would have to be looked at and is not there.
    func recoverMoves() async throws -> [Message] {
        let library = folder.path
        var notices: [Message] = []
        for (side, journal) in try await runBlocking({ try MoveJournal.all(in: library) }) {
            switch side {
            case .from: notices.append(try await finishOrTakeBack(journal))
            case .to:
                // What the store has is whole; the library that it came from lets go of the rest by itself.
                if try await journal.isRecorded(in: store) {
                    try await runBlocking { try journal.delete(.to, in: library) }
                    continue
                }
                let recorded = try await store.filePaths()
                try await runBlocking {
                    // While the old library is not there nothing is known to be whole anywhere else.
                    guard fileAttributes(journal.from + "/.booksync") != nil else { return }
                    try journal.removeFiles(from: library, thatAreIn: journal.from, except: recorded)
                    try journal.delete(.to, in: library)
                }
            }
        }
        return notices
    }

    private func finishOrTakeBack(_ journal: MoveJournal) async throws -> Message {
        let (library, book) = (folder.path, journal.book)
        guard try await runBlocking({ fileAttributes(journal.to + "/.booksync") != nil }) else {
            throw Failure(
                .libraryUnwritable, disposition: .stop,
                what: "the move of \(book) to \(journal.to) is not finished",
                why: "that library is not there", remedy: "mount its disk and run again")
        }
        let isThere = try await ShelfReader.read(journal.to) { try await journal.isRecorded(in: $0.store) }
        guard isThere == true else {
            // What was placed there goes now, as for long no run may come to that library. Where one is under way, or the library
            // cannot be opened, its next one does it: its journal stays until then.
            _ = await Result.of { try await LibrarySession.withLibrary(at: journal.to, command: "move") { _ in } }
            try await runBlocking { try journal.delete(.from, in: library) }
            return "the interrupted move of \(book) to \(journal.to) was taken back"
        }
        try await store.release(book)
        try await runBlocking {
            try journal.removeFiles(from: library, thatAreIn: journal.to)
            try journal.delete(.from, in: library)
        }
        return "the interrupted move of \(book) to \(journal.to) was finished"
    }
}
