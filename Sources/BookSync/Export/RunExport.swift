import BookModel
import CatalogStore
import LibraryFiles
import Logging
import Settings
import Transport

/// The exports of a run: what `downloads.export` lists, for the books that it planned.
struct RunExport: Sendable {
    private var export: BookExport
    private let kinds: [ExportKind]
    private var books: [BookIdentity] = []
    /// Servers that did not answer for a cover: they are not waited for book by book.
    private var silent: Set<WebOrigin> = []
    private let logger: Logger
    private let emit: @Sendable (SyncEvent) -> Void

    init(
        configuration: Configuration, session: LibrarySession, logger: Logger,
        emit: @escaping @Sendable (SyncEvent) -> Void
    ) {
        export = BookExport(configuration: configuration, library: session.folder.path, store: session.store)
        kinds = configuration.downloads.export
        self.logger = logger
        self.emit = emit
    }

    /// Has a book that was planned be exported as well.
    mutating func add(_ book: Book) {
        guard !kinds.isEmpty else { return }
        books.append(book.identity)
        if kinds.contains(.cover) { export.covers[book.identity] = book.cover }
    }

    /// Writes what changed. That the user's own file stands in the place is told and is no failure of the run; that a
    /// file cannot be written is. A cover that cannot be had, and a metadata.json that Audiobookshelf has made its own, are
    /// the same every night: they are for the log, and `booksync export` tells of them.
    mutating func execute(over transport: HTTPTransport, onFailure: (FailureReport) -> Void) async throws {
        for book in books where !Task.isCancelled {
            do {
                let server = export.covers[book].flatMap(WebOrigin.init)
                let isSilent = server.map(silent.contains) ?? false
                for outcome in try await export.execute(
                    kinds.filter { !isSilent || $0 != .cover }, of: book, over: transport)
                {
                    if outcome.isUnanswered, let server { silent.insert(server) }
                    switch outcome.result {
                    case .left(let failure) where [.cover, .metadata].contains(outcome.kind),
                        .failed(let failure) where outcome.kind == .cover:
                        logger.info("not exported", metadata: ["why": "\(failure)"])
                    case .left(let failure): emit(.notice("\(failure)"))
                    case .failed(let failure): onFailure(FailureReport(book: book, failure: failure))
                    case .written, .unchanged, .nothing: break
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
