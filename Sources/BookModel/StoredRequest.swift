/// Something that a user asked for, until a run has done it.
package struct StoredRequest: Sendable, Hashable {
    package enum Kind: String, Sendable {
        /// Episodes of a book, or all of them.
        case fetch
        /// The catalog of a book, and none of its audio.
        case list
        /// One file made of a book.
        case join
        /// All that is subscribed to.
        case mirror
        /// The run under way must not download this: everything, a book, or an episode.
        case cancel
    }

    /// Of later ones it is greater; 0 until it is stored.
    package var id: Int64
    package var kind: Kind
    /// nil for a mirror, and for a cancellation of everything.
    package var book: BookIdentity?
    /// The key of a cancelled episode.
    package var episode: String?
    package var filter: EpisodeFilter
    /// Also what was removed, is paused, or failed too often.
    package var force: Bool

    package init(
        _ kind: Kind, _ book: BookIdentity? = nil, filter: EpisodeFilter = EpisodeFilter(), force: Bool = false
    ) {
        (id, self.kind, self.book, self.filter, self.force) = (0, kind, book, filter, force)
    }

    package init(cancelling episode: EpisodeIdentity) {
        self.init(.cancel, episode.book)
        self.episode = episode.key
    }

    /// The same before it was stored.
    package var asAsked: StoredRequest {
        var request = self
        request.id = 0
        return request
    }

    /// True if it requests or cancels the episode, among others perhaps.
    fileprivate func concerns(_ episode: Episode) -> Bool {
        guard kind == .fetch || kind == .cancel, book == nil || book == episode.identity.book else { return false }
        return filter.only?.contains(episode.section) ?? true
    }
}

extension [StoredRequest] {
    /// The episodes that were cancelled after they were requested last.
    package func cancelled(among episodes: some Sequence<Episode>) -> Set<EpisodeIdentity> {
        var single: [EpisodeIdentity: Int] = [:]
        var others: [(index: Int, request: StoredRequest)] = []
        for (index, request) in enumerated() {
            if let book = request.book, let key = request.episode {
                single[EpisodeIdentity(book: book, key: key)] = index
            } else {
                others.append((index, request))
            }
        }
        let cancelled = episodes.filter { episode in
            let last = others.last { $0.request.concerns(episode) }
            return last?.request.kind == .cancel || single[episode.identity] ?? -1 > last?.index ?? -1
        }
        return Set(cancelled.map(\.identity))
    }

    /// One sentence with the first five; nil if there are none.
    package var summary: Message? {
        let names = map { request -> Message in
            guard let book = request.book else { return "all subscriptions" }
            let reference = request.filter.only.map { BookReference.example($0, of: book) } ?? "\(book)"
            return request.kind == .join ? "one file of \(reference)" : "\(reference)"
        }
        guard !names.isEmpty else { return nil }
        let more: Message = names.count > 5 ? " and \(names.count - 5) more" : ""
        return "asked for, and not done yet: \(names.prefix(5).joined(separator: ", "))\(more)"
    }
}
