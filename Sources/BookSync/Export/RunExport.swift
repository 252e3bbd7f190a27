import BookModel
import CatalogStore
import Transport

/// The exports of a run: what `downloads.export` lists, for the books that it planned.
struct RunExport: Sendable {
    private var export: BookExport
    private let kinds: [ExportKind]
    private var books: [BookIdentity] = []
    private let emit: @Sendable (SyncEvent) -> Void

    init(configuration: Configuration, session: LibrarySession, emit: @escaping @Sendable (SyncEvent) -> Void) {
        export = BookExport(configuration: configuration, library: session.folder.path, store: session.store)
        kinds = configuration.downloads.export
        self.emit = emit
    }

    /// Has a book that was planned be exported as well.
    mutating func add(_ book: Book) {
        guard !kinds.isEmpty else { return }
        books.append(book.identity)
        if kinds.contains(.cover) { export.covers[book.identity] = book.cover }
    }

    /// Writes what changed. That there is no cover, or that the listener's own file stands in the place, is told and is
    /// no failure of the run; that a file cannot be written is.
    func execute(over transport: HTTPTransport, onFailure: (FailureReport) -> Void) async throws {
        for book in books where !Task.isCancelled {
            do {
                for outcome in try await export.execute(kinds, of: book, over: transport) {
                    guard let failure = outcome.failure else { continue }
                    if case .failed = outcome.result, outcome.kind != .cover {
                        onFailure(FailureReport(book: book, failure: failure))
                    } else {
                        emit(.notice("\(failure)"))
                    }
                }
            } catch is CancellationError {
                return
            } catch let failure as Failure {
                onFailure(FailureReport(book: book, failure: failure))
                if failure.disposition == .stop { return }
            }
        }
    }
}
