/// How far a user is in a book.
package struct ListeningProgress: Sendable, Hashable {
    /// Of the book, those that are gone and not on disk left out.
    package var episodes: Int
    /// Heard to their end, or marked so.
    package var played: Int
    /// Of the whole book; nil where too few episodes have a known length. Those that have none are taken to be as long as
    /// the others are on average.
    package var seconds: Double?
    /// Listened to; an episode that was played counts whole.
    package var secondsHeard: Double

    /// - Parameters:
    ///   - knownSeconds: of all episodes whose length is known.
    ///   - withKnownLength: how many those are.
    ///   - secondsHeard: of those whose length is known.
    package init(episodes: Int, played: Int, knownSeconds: Double, withKnownLength: Int, secondsHeard: Double) {
        self.episodes = episodes
        self.played = played
        self.secondsHeard = secondsHeard
        let isKnown = withKnownLength > 0 && withKnownLength * 2 >= episodes && knownSeconds > 0
        seconds = isKnown ? knownSeconds / Double(withKnownLength) * Double(episodes) : nil
    }

    /// 0 to 1: by time where the lengths are known, else by episodes.
    package var share: Double {
        if played >= episodes { return episodes > 0 ? 1 : 0 }
        guard let seconds else { return Double(played) / Double(max(1, episodes)) }
        return min(1, max(0, secondsHeard / seconds))
    }

    /// Seconds; nil where they are not known.
    package var secondsLeft: Double? {
        if played >= episodes { return 0 }
        return seconds.map { max(0, $0 - secondsHeard) }
    }
}

/// Which episodes of a book are marked as played or as never listened to.
package enum MarkedPart: Sendable, Hashable {
    case whole
    /// One episode.
    case episode(EpisodeIdentity)
    /// All up to one, in the order of the book.
    case upTo(EpisodeIdentity)
}
