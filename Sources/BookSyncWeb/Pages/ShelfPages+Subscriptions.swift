import BookModel
import BookSync
import Foundation

extension ShelfPages {
    private struct FollowedView: ViewModel {
        var title: String
        var page: String?
        var cover: String?
        var reference: String
        var limits: String?
        var isConfigured: Bool
        var actions: [ActionView]
    }

    private struct ListedView: ViewModel {
        var number: Int
        var name: String
        var length: String
    }

    private struct PreviewView: ViewModel {
        var title: String
        var people: String?
        var counts: String
        var warning: String?
        var episodes: [ListedView]
        var more: String?
        var reference: String
    }

    private struct ActionsView: ViewModel {
        var actions: [ActionView]
    }

    private struct SubscriptionsView: ViewModel {
        var sum: String
        var reference: String
        var trouble: TroubleView?
        var preview: PreviewView?
        var isEmpty: Bool
        var subscriptions: [FollowedView]
        var mayMirror: Bool
        var mirror: ActionsView
        var outline: String
        var rotate: ActionsView?
    }

    /// Episodes that a preview shows.
    private static let previewed = 12

    /// What mirror follows, a look at what may be added, and the address for podcast apps.
    func subscriptionsPage(_ request: Request) async throws -> Page {
        let (phrases, maker) = (phrases(for: request), maker(for: request))
        let configuration = shelf.configuration
        let found = try await shelf.read { shelf in
            (stored: try await shelf.subscriptions(), books: try await shelf.books())
        }
        let books = Dictionary(
            (found?.books ?? []).map { ($0.book.identity, $0.book) }, uniquingKeysWith: { first, _ in first })
        let configured = Set(try configuration.allSubscriptions(with: []).map(\.book))
        let followed = try configuration.allSubscriptions(with: found?.stored ?? []).map { subscription in
            self.view(
                subscription, books[subscription.book], isConfigured: configured.contains(subscription.book), maker)
        }
        var reference = ""
        var preview: PreviewView?
        var trouble: TroubleView?
        if case .catalog(let asked)? = request.inquiry, !asked.isEmpty, request.visitor.mayChange {
            reference = asked
            do {
                preview = self.view(try await request.preview(reference), reference, phrases, maker)
            } catch let failure as Failure {
                trouble = TroubleView(failure, phrases)
            }
        }
        var rotate = maker.button("rotate-apps", .rotate, field: "all", value: "true", of: phrases(.forPodcastApps))
        (rotate.asks, rotate.question) = (true, phrases(.rotateQuestion))
        (rotate.answer, rotate.spoken) = (phrases(.rotate), phrases(.rotate))
        var mirror = maker.button("mirror", .mirrorNow, field: "now", value: "true", of: phrases(.subscriptions))
        mirror.spoken = phrases(.mirrorNow)
        let mayChange = request.visitor.mayChange
        let view = SubscriptionsView(
            sum: followed.isEmpty ? "" : phrases(.countFollowed, count: followed.count), reference: reference,
            trouble: trouble, preview: preview, isEmpty: followed.isEmpty, subscriptions: followed,
            mayMirror: mayChange && !followed.isEmpty, mirror: ActionsView(actions: [mirror]),
            outline: request.apps + "/feeds/all.opml", rotate: mayChange ? ActionsView(actions: [rotate]) : nil)
        return try page(.subscriptions, view, with: "subscriptions", for: request, section: .subscriptions)
    }

    private func view(
        _ subscription: Subscription, _ book: Book?, isConfigured: Bool, _ maker: ViewMaker
    ) -> FollowedView {
        let title = subscription.title ?? book?.title ?? subscription.book.id
        var actions: [ActionView] = []
        if maker.visitor.mayChange, !isConfigured {
            actions.append(
                maker.button(
                    "unsubscribe", .unsubscribe, field: "ref", value: PagePlaces.reference(of: subscription.book),
                    of: title, kind: "quiet"))
        }
        return FollowedView(
            title: title, page: book.map { maker.places.book($0.identity) },
            cover: book.map { maker.places.cover($0.identity) },
            reference: subscription.book.description,
            limits: subscription.filter.latest.map { maker.phrases(.latestOnly, count: $0) },
            isConfigured: isConfigured, actions: actions)
    }

    private func view(
        _ preview: CatalogPreview, _ reference: String, _ phrases: Phrases, _ maker: ViewMaker
    ) -> PreviewView {
        var counts = [phrases(.countEpisodes, count: preview.episodes.count)]
        let locked = preview.episodes.count { $0.isLocked }
        if locked > 0 { counts.append("\(phrases(.factLocked)) \(phrases.number(locked))") }
        let bytes = preview.episodes.reduce(Int64(0)) { $0 &+ ($1.size ?? 0) }
        if bytes > 0 { counts.append(phrases.bytes(bytes)) }
        let more = preview.episodes.count - Self.previewed
        return PreviewView(
            title: preview.book.title, people: maker.people(of: preview.book),
            counts: counts.joined(separator: " · "),
            warning: preview.proof.warnings.first ?? (preview.proof.isComplete ? nil : phrases(.incompleteListing)),
            episodes: preview.episodes.prefix(Self.previewed).map {
                ListedView(number: $0.section, name: $0.name, length: $0.duration.map(phrases.clock) ?? "")
            }, more: more > 0 ? phrases(.countMore, count: more) : nil, reference: reference)
    }
}
