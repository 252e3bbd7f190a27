import BookModel
import BookSync
import CatalogFetcher
import CatalogStore
import Foundation
import Settings

extension ShelfPages {
    /// Episodes that a preview shows.
    private static let previewed = 12
    private static let subscriptionsOnPage = 100
    private static let notesOnPage = 100

    /// The subscriptions, a look at what may be added, and the address for podcast apps.
    /// - Parameters:
    ///   - reference: of the book that may be added; empty for none.
    ///   - outcome: of the import of a list that has just ended.
    func subscriptionsPage(
        _ request: Request, previewing reference: String = "",
        imported outcome: Result<SubscriptionImport, any Error>? = nil
    ) async throws -> Page {
        let (phrases, maker) = (phrases(for: request), maker(for: request))
        let configured = try wholeShelf.configuration.allSubscriptions(with: [])
        let configuredBooks = configured.map(\.book)
        let stored = try await request.shelf.answers { try await $0.store.subscriptionCount(without: configuredBooks) }
        let counts = [configured.count] + stored.answers.map { $0.value ?? 0 }
        let count = counts.reduce(0, +)
        let part = PagePart(request.query["page"], of: count, size: Self.subscriptionsOnPage)
        let ranges = librariesParts(of: counts, from: part.first, count: part.size)
        var shown = Array(configured[ranges[0]])
        for ((place, _), range) in zip(stored.answers, ranges.dropFirst()) where !range.isEmpty {
            shown +=
                try await request.shelf.shelf(at: place).read {
                    try await $0.store.subscriptions(
                        without: configuredBooks, from: range.lowerBound, count: range.count)
                } ?? []
        }
        let followedBooks = shown.map(\.book)
        let known = try await request.shelf.answers { try await $0.books(among: followedBooks) }.answers
        let books = Dictionary(
            known.flatMap { $0.value ?? [] }.map { ($0.book.identity, $0) }, uniquingKeysWith: { first, _ in first })
        let isConfigured = Set(configuredBooks)
        let previewed = await wholeShelf.desk?.previews.titles ?? [:]
        let followed = shown.map { subscription in
            let book = subscription.book
            return self.view(
                subscription, books[book], previewed: previewed[book], isConfigured: isConfigured.contains(book), maker)
        }
        var preview: Any?
        var trouble: ErrorView?
        var imported: [String] = []
        do {
            if let outcome { imported = sentences(on: try outcome.get(), phrases) }
        } catch let failure as Failure {
            trouble = ErrorView(failure, phrases)
            trouble?.what = phrases(.importFailed)
        }
        if let desk = wholeShelf.desk, !reference.isEmpty, request.visitor.mayChange {
            do {
                let (listed, sample) = try await desk.previews.preview(try BookReference(parsing: reference))
                let audio = sample.map { "\(request.root)/previews/\($0)" }
                preview = self.view(listed, reference, audio, phrases, maker)
            } catch let failure as Failure {
                trouble = ErrorView(failure, phrases)
            }
        }
        var rotate = maker.button(
            "rotate-apps", .rotate, field: "all", value: "true", of: phrases(.forPodcastApps),
            question: phrases(.rotateQuestion))
        rotate.spoken = phrases(.rotate)
        let mayChange = request.visitor.mayChange
        var schedule: String?
        if mayChange, !followed.isEmpty {
            let next = await wholeShelf.desk?.nextMirror
            schedule = next.map { phrases(.nextMirror, ["time": phrases.time($0)]) } ?? phrases(.noMirror)
        }
        let view = (
            sum: count == 0 ? "" : phrases(.countFollowed, count: count), reference: reference,
            // What became of an imported list, and of each feed that was refused.
            trouble: trouble, imported: imported, preview: preview, subscriptions: followed,
            pager: part.pager(phrases) { "\(request.routes.root)/subscriptions?page=\($0)" },
            // When the next mirror run begins, where one may be asked for.
            schedule: schedule, outline: request.apps.outline,
            rotate: mayChange ? ["actions": [rotate]] : nil
        )
        return try page(
            .subscriptions, view, with: "subscriptions", for: request, section: .subscriptions,
            unanswered: stored.failures)
    }

    private func sentences(on imported: SubscriptionImport, _ phrases: Strings) -> [String] {
        let (added, already) = imported.counts
        let counts = ["added": added, "already": already, "refused": imported.failures.count]
        let notes = imported.failures.map(\.message) + imported.notices
        return [phrases(.imported, counts.mapValues(phrases.number))]
            + notes.prefix(Self.notesOnPage).map { phrases($0) }
    }

    private func view(
        _ subscription: Subscription, _ book: BookSummary?, previewed: String?, isConfigured: Bool, _ maker: ViewMaker
    ) -> Any {
        let title = subscription.title ?? book?.book.title ?? previewed ?? subscription.book.id
        var actions: [ActionView] = []
        if maker.visitor.mayChange, !isConfigured {
            let book = subscription.book
            // A list is no book on the shelf, which is found by its name in addresses.
            let reference = book.isCollection ? book.description : book.pathReference
            actions.append(
                maker.button("unsubscribe", .unsubscribe, field: "ref", value: reference, of: title, kind: "quiet"))
        }
        return (
            title: title, page: book.map { maker.routes.page(of: $0.book.identity) },
            cover: book.map { maker.routes.smallCover(of: $0.book.identity) },
            reference: subscription.book.description,
            limits: subscription.filter.latest.map { maker.phrases(.latestOnly, count: $0) },
            // How much of it is on disk; nil before its catalog was read.
            counts: book.map { maker.card($0).spoken },
            isConfigured: isConfigured, actions: actions
        )
    }

    /// - Parameter sample: where the first episode can be heard.
    private func view(
        _ preview: CatalogPreview, _ reference: String, _ sample: String?, _ phrases: Strings, _ maker: ViewMaker
    ) -> Any {
        var counts = [phrases(.countEpisodes, count: preview.episodes.count)]
        let locked = preview.episodes.count { $0.isLocked }
        if locked > 0 { counts.append("\(phrases(.factLocked)) \(phrases.number(locked))") }
        let bytes = preview.episodes.saturatedSum { $0.size ?? 0 }
        if bytes > 0 { counts.append(phrases.bytes(bytes)) }
        let more = preview.episodes.count - Self.previewed
        return (
            title: preview.book.title, people: maker.people(of: preview.book),
            summary: preview.description.summary, counts: counts.joined(separator: " · "),
            warning: preview.proof.warnings.first.map { phrases($0) }
                ?? (preview.proof.isComplete ? nil : phrases(.incompleteListing)),
            episodes: preview.episodes.prefix(Self.previewed).map {
                (number: $0.section, name: $0.name, length: $0.duration.map(phrases.clock) ?? "")
            }, more: more > 0 ? phrases(.countMore, count: more) : nil, reference: reference, sample: sample
        )
    }
}
