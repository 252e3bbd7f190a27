import AudioFiles
import BookModel
import CatalogStore
import LibraryFiles

extension BookJoin {
    /// Seconds to wait for another run once the episodes are encoded.
    private static var patience: Double { 60 }

    /// Joins the books, one after another; a dry run changes nothing and needs no lock. Episodes are encoded before the
    /// library is locked, unless another run holds the lock and `wait` is 0.
    /// - Parameter tell: is told what became of each file, and of a book that failed.
    package func execute(
        _ books: [BookIdentity], waitingFor wait: Double, knownLibraries: KnownLibraries?,
        tell: (JoinOutcome) async -> Void
    ) async throws {
        _ = try await LibraryFolder.requireStore(in: library)
        if request.isDryRun, let store = try await LibraryFolder.readableStore(in: library) {
            return try await store.closing { try await execute(books, store: store, tell: tell) }
        }
        let isRefused = wait <= 0 ? try await LibraryLock.isHeld(in: library) : false
        if !isRefused, let store = try await LibraryFolder.readableStore(in: library) {
            try await store.closing { try await prepare(books, store: store) }
        }
        // A run may have begun meanwhile.
        try await LibrarySession.withLibrary(
            at: library, command: "join", waitingFor: isRefused ? wait : max(wait, Self.patience),
            knownLibraries: knownLibraries
        ) { try await execute(books, store: $0.store, tell: tell) }
    }
}
