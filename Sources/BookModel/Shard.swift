/// One worker's share of the books of a fleet.
///
/// A book falls to the shard whose number gives the highest hash together with its identity (rendezvous hashing, Thaler and
/// Ravishankar 1998): one shard more takes an equal part from each of the others, and moves nothing between them.
package struct Shard: Hashable, Sendable, CustomStringConvertible {
    /// From 0 on.
    package let index: Int
    /// How many there are.
    package let count: Int

    /// - Returns: nil unless 0 ≤ index < count.
    package init?(index: Int, count: Int) {
        guard index >= 0, index < count else { return nil }
        self.index = index
        self.count = count
    }

    /// - Parameter text: as in `3/16`, the first is `0/16`.
    package init?(parsing text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let index = Int(parts[0]), let count = Int(parts[1]) else { return nil }
        self.init(index: index, count: count)
    }

    package var description: String { "\(index)/\(count)" }

    package func has(_ book: BookIdentity) -> Bool { Self.index(of: book, among: count) == index }

    /// Of the subscriptions what this worker follows: its books of them, and of each list of books its part.
    package func part(of subscriptions: [Subscription]) -> [Subscription] {
        subscriptions.filter { $0.book.isCollection || has($0.book) }.map { subscription in
            guard subscription.book.isCollection else { return subscription }
            var own = subscription
            own.collection.shard = self
            own.collection.maxBooks = subscription.collection.maxBooks.map {
                $0 / count + (index < $0 % count ? 1 : 0)
            }
            return own
        }
    }

    /// The shard that a book falls to. It stays the same in every version of booksync.
    /// - Parameter count: of the shards, 1 or more.
    package static func index(of book: BookIdentity, among count: Int) -> Int {
        // FNV-1a, 64 bits.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in book.description.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        var best = (index: 0, weight: UInt64(0))
        for index in 0..<count {
            let weight = mixed(hash ^ mixed(UInt64(index) &+ 1))
            if weight > best.weight { best = (index, weight) }
        }
        return best.index
    }

    /// The finalizer of SplitMix64.
    private static func mixed(_ value: UInt64) -> UInt64 {
        var value = value
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
