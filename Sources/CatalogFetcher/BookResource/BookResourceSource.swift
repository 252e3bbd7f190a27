import BookModel
import Foundation
import Transport

/// A catalog that speaks the book-resource API.
package struct BookResourceSource: CatalogSource {
    let settings: BookResourceSettings
    let client: CatalogClient
    var ceiling = ListingProgress.Ceiling()
    private static let gapKinds: Set<Failure.Kind> = [.unreadableCatalog, .catalogUnavailable, .unknownBook]

    package func list(_ book: BookIdentity, onPage: PageHandler) async throws -> CatalogListing {
        var progress = ListingProgress(pageSize: settings.pageSize, ceiling: ceiling)
        var pace = Backoff()
        var names: [String] = []
        var failure: Failure?
        while true {
            do {
                try await readPage(of: book, progress: &progress, pace: &pace) { page in
                    names += page.episodes.prefix(TitleInference.sampleSize - names.count).map(\.name)
                    try await onPage(page)
                }
                failure = nil
                if progress.endPage() == .stop { break }
            } catch let unread as Failure where progress.page > 1 && Self.gapKinds.contains(unread.kind) {
                // One bad page is a gap; after two in a row the catalog cannot be read.
                if let failure { throw failure }
                failure = unread
                progress.skipPage(because: unread.why)
            }
        }
        var proof = progress.proof()
        let description = try await describe(book, pace: &pace, warnings: &proof.warnings)
        return CatalogListing(
            proof: proof, description: description, inferredTitle: TitleInference.title(from: names))
    }

    /// Hands a page's episodes on in pieces, however long it is.
    private func readPage(
        of book: BookIdentity, progress: inout ListingProgress, pace: inout Backoff, onPage: PageHandler
    ) async throws {
        let number = progress.page
        let subject = ErrorContext(book: book, part: "page \(number)")
        let request = BookResourceRequest.page(number, of: book.id, settings: settings)
        let (answer, address, secrets) = try await ask(request, for: subject, pace: &pace)
        progress.declare(answer.declared)
        var batch = CatalogPage(episodes: [], declared: progress.declared)
        switch answer.elements {
        case .foreign(let why):
            throw subject.unreadable(why: "\(why): '\(answer.beginning(masked: secrets))'")
        case .missing:
            // Asked for too much at once, a catalog stops returning the list; a later page without one is an end.
            if number == 1, let declared = answer.declared, declared > 0 {
                throw subject.unreadable(
                    why: "it declares \(declared) episodes and lists none; a page-size below \(settings.pageSize) may "
                        + "help")
            }
        case .list(let elements):
            for value in elements {
                if progress.isBeyondCeiling { break }
                guard let episode = progress.admit(value, of: book, from: address) else { continue }
                batch.episodes.append(episode)
                if batch.episodes.count == CatalogContents.pageLength {
                    try await onPage(batch)
                    batch.episodes.removeAll(keepingCapacity: true)
                }
            }
        }
        if number == 1, progress.isEmpty {
            throw subject.unknownBook(
                why: "the catalog lists no episodes for it; it may also be the id of an album, or a book that is no "
                    + "longer offered")
        }
        if !batch.episodes.isEmpty { try await onPage(batch) }
    }

    /// Asks for title, author and the rest where an address for them is configured; failing that is no reason to fail.
    private func describe(
        _ book: BookIdentity, pace: inout Backoff, warnings: inout [Message]
    ) async throws -> BookDescription {
        guard let address = settings.detailAddress else { return BookDescription() }
        do {
            let request = BookResourceRequest.detail(of: book.id, at: address, settings: settings)
            let subject = ErrorContext(book: book, part: "the description")
            let (answer, base, _) = try await ask(request, for: subject, pace: &pace)
            return BookDescription(bookResourceDetail: answer.detail, from: base)
        } catch let failure as Failure {
            warnings.append("title and author are not known: \(failure)")
            return BookDescription()
        }
    }

    /// Sends a request until the catalog says something else than "too often".
    func ask(
        _ request: BookResourceRequest, for subject: ErrorContext, pace: inout Backoff
    ) async throws -> (BookResourceAnswer, ResourceAddress, SecretMask) {
        let wireRequest = request.wireRequest
        let secrets = request.secrets
        var waits = 0
        while true {
            if pace.gap > .zero {
                try await client.pause(pace.gap / .seconds(1), because: "the server asks for a pause")
            }
            let (document, address) = try await client.fetchJSON(wireRequest, for: subject, secrets: secrets)
            let answer = BookResourceAnswer(document)
            let verdict = answer.verdict
            let why: Message = verdict == .good ? "" : answer.complaint(masked: secrets)
            switch verdict {
            case .good: return (answer, address, secrets)
            case .credentialsRejected: throw subject.credentialsRejected(why: why)
            case .unknownBook: throw subject.unknownBook(why: why)
            case .refused:
                throw subject.unavailable(
                    at: address, why: why,
                    remedy: "check query and signature of source \(subject.book.source), or try again later")
            case .tooFrequent:
                guard waits < Backoff.maxWaits else {
                    throw subject.unavailable(
                        at: address, why: "\(why) after \(waits) waits, the last of \(pace.gap.components.seconds) s",
                        remedy: "try again in some hours")
                }
                waits += 1
                pace.widen()
                await client.pace?.widen(to: pace.gap)
            }
        }
    }
}
