import BookModel
import CatalogFetcher
import Foundation

// The documents of `--json`, as the command line's contract words them. The web API prints the same ones.

extension JSONDocument {
    /// A book of the shelf.
    package init(_ shelved: BookSummary) {
        let document: JSONDocument = [
            "source": .string(shelved.book.identity.source),
            "id": .string(shelved.book.identity.id),
            "title": .string(shelved.book.title),
            "author": .init(shelved.book.author),
            "announcer": .init(shelved.book.narrator),
            "episodes": .init(shelved.episodes),
            "declared": .init(shelved.book.declaredEpisodes),
            "complete": .bool(shelved.book.isComplete),
            "present": .init(shelved.present),
            "missing": .init(shelved.missing),
            "locked": .init(shelved.locked),
            "bytes": .integer(shelved.bytes),
            "path": .init(shelved.path),
            "updated_at": .init(shelved.updatedAt),
        ]
        self = document.adding(shelved.library)
    }

    /// An episode of the shelf.
    ///
    /// - Parameter bytesDone: how much of it is on disk, partial files included.
    package init(_ shelved: EpisodeRecord, bytesDone: Int64) {
        let episode = shelved.episode
        self = .naming(episode.identity, section: episode.section, name: episode.name).adding([
            "state": .string(shelved.state.rawValue),
            "url": .init(episode.address?.withoutSecrets),
            "size": .init(shelved.file?.size ?? shelved.transfer?.total ?? episode.size),
            "bytes_done": .integer(bytesDone),
            "sha256": .init(shelved.file?.sha256),
            "path": .init(shelved.file?.path),
            "published_at": .init(episode.publishedAt),
            "duration": .init(shelved.duration),
            "error": .init(shelved.transfer?.error?.description),
            "attempts": .init(shelved.transfer?.attempts ?? 0),
        ])
    }

    package init(_ subscription: Subscription) {
        self = [
            "source": .string(subscription.book.source),
            "id": .string(subscription.book.id),
            "title": .init(subscription.title),
            "only": .init(subscription.filter.only?.description),
            "latest": .init(subscription.filter.latest),
            "match": .init(subscription.filter.match),
            "exclude": .init(subscription.filter.exclude),
            "since": .init(subscription.filter.since?.description),
            "order": .init(subscription.order?.rawValue),
            "max_episodes": .init(subscription.limits.episodes),
            "max_bytes": .init(subscription.limits.bytes),
            "naming": .init(subscription.naming),
            "keep": .init(subscription.keep?.text),
            "max_size": .init(subscription.keep?.maxBytes),
            "language": .init(subscription.collection.language),
            "min_hours": .init(subscription.collection.minHours),
            "max_books": .init(subscription.collection.maxBooks),
            "tags": .array(subscription.tags.map { .string($0.description) }),
            "subscribed_at": .init(subscription.subscribedAt),
            "moved_to": .init(FeedSettings.newAddress(of: subscription)?.withoutSecrets),
        ]
    }

    package init(_ book: Book) {
        self = [
            "source": .string(book.identity.source),
            "id": .string(book.identity.id),
            "title": .string(book.title),
            "author": .init(book.author),
        ]
    }

    package init(_ plan: SyncPlan) {
        let totals = plan.totals
        self = [
            "book": .init(plan.book),
            "actions": .array(plan.actions.map(JSONDocument.init)),
            "totals": [
                "fetch": .init(totals.fetch), "resume": .init(totals.resume), "replace": .init(totals.replace),
                "rename": .init(totals.rename), "adopt": .init(totals.adopt), "keep": .init(totals.keep),
                "expire": .init(totals.expire),
                "skip": .init(totals.skip), "bytes": .integer(totals.bytes),
            ],
        ]
    }

    private init(_ action: SyncAction) {
        self = [
            "action": .string(action.kind.keyword),
            "section": .init(action.episode.section),
            "id": .string(action.episode.identity.key),
            "name": .name(action.episode.name),
            "path": .string(action.path),
        ]
        if let fromPath = action.fromPath { self = adding(["from_path": .string(fromPath)]) }
        self = adding(["bytes": .init(action.bytes), "reason": .init(action.reason)])
    }
}

extension JSONDocument {
    package init(_ bookmark: Bookmark) {
        self = [
            "number": .integer(bookmark.id), "source": .string(bookmark.episode.book.source),
            "book_id": .string(bookmark.episode.book.id), "id": .string(bookmark.episode.key),
            "seconds": .init(bookmark.seconds), "note": .string(bookmark.note),
            "created_at": .init(bookmark.createdAt),
        ]
    }

    package init(_ position: ListeningPosition) {
        self = [
            "seconds": .init(position.seconds), "duration": .init(position.duration),
            "finished": .bool(position.isFinished), "device": .init(position.device),
            "revision": .integer(position.revision),
        ]
    }
}
