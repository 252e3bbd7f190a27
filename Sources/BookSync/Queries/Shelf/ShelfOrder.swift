import BookModel
import Foundation

/// What the shelf can be ordered by. Names rise, with digits in them as numbers; of counts, sizes and times the
/// greatest comes first.
package enum ShelfOrder: String, Sendable, CaseIterable {
    case id, title, author, episodes, missing, bytes, updated
    case section, name, state, published

    package static let ofBooks: [ShelfOrder] = [.id, .title, .author, .episodes, .missing, .bytes, .updated]
    package static let ofEpisodes: [ShelfOrder] = [.section, .id, .name, .state, .bytes, .published]
}

extension [BookSummary] {
    /// What is equal stays in its order.
    package func sorted(by order: ShelfOrder) -> [BookSummary] {
        order.indices(of: count) { self[$0] }.map { self[$0] }
    }
}

extension ShelfOrder {
    /// Books by their numbers from 0 on, in this order; what is equal stays in its own.
    package func indices(of count: Int, book: (Int) -> BookSummary) -> [Int] {
        let all = Array(0..<count)
        return switch self {
        case .title: all.rising { NaturalKey(book($0).book.title) }
        case .author: all.rising { NaturalKey(book($0).book.author) }
        case .episodes: all.falling { book($0).episodes }
        case .missing: all.falling { book($0).missing }
        case .bytes: all.falling { book($0).bytes }
        case .updated: all.falling { book($0).updatedAt }
        default: all.rising { NaturalKey("\(book($0).book.identity)") }
        }
    }
}

extension [ShelfReader.EpisodeOnDisk] {
    /// What is equal stays in its order.
    package func sorted(by order: ShelfOrder) -> [ShelfReader.EpisodeOnDisk] {
        switch order {
        case .id: rising { NaturalKey($0.shelved.episode.identity.key) }
        case .name: rising { NaturalKey($0.shelved.episode.name) }
        case .state: rising { NaturalKey($0.shelved.state.rawValue) }
        case .bytes:
            falling { $0.shelved.file?.size ?? $0.shelved.transfer?.total ?? $0.shelved.episode.size ?? -1 }
        case .published: falling { $0.shelved.episode.publishedAt ?? .distantPast }
        default: rising(\.shelved.episode.section)
        }
    }
}

extension Array {
    fileprivate func rising(_ key: (Element) -> some Comparable) -> [Element] {
        sortedByKey(key) { $0 < $1 }
    }

    fileprivate func falling(_ key: (Element) -> some Comparable) -> [Element] {
        sortedByKey(key) { $0 > $1 }
    }

    /// Each key is made once: a book may have a hundred thousand names.
    private func sortedByKey<Key: Comparable>(
        _ key: (Element) -> Key, _ precedes: (Key, Key) -> Bool
    ) -> [Element] {
        // The elements are large, and stay where they are.
        let keys = indices.map { (key: key(self[$0]), index: $0) }
        return keys.sorted { $0.key == $1.key ? $0.index < $1.index : precedes($0.key, $1.key) }.map { self[$0.index] }
    }
}

/// A name as it is compared: without capitals, and digits as the numbers that they are. What has no name comes last.
struct NaturalKey: Comparable {
    /// The first bytes as a number, which most often tells two apart.
    private let beginning: UInt64
    private let bytes: [UInt8]

    init(_ text: String?) {
        guard let text, !text.isEmpty else {
            // No UTF-8 has this byte.
            (beginning, bytes) = (.max, [0xFF])
            return
        }
        let folded = Array(text.lowercased().utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(folded.count + 8)
        var index = 0
        while index < folded.count {
            guard folded[index].isDigit else {
                bytes.append(folded[index])
                index += 1
                continue
            }
            let start = index
            while index < folded.count, folded[index].isDigit { index += 1 }
            let number = folded[start..<index].drop { $0 == UInt8(ascii: "0") }
            // Of two numbers without zeros in front the longer one is the greater.
            bytes += [UInt8(ascii: "0"), UInt8(Swift.min(number.count, 0xFF))] + number
        }
        self.bytes = bytes
        beginning = (0..<8).reduce(0) { $0 << 8 | UInt64(bytes.indices.contains($1) ? bytes[$1] : 0) }
    }

    static func < (one: NaturalKey, other: NaturalKey) -> Bool {
        one.beginning == other.beginning
            ? one.bytes.lexicographicallyPrecedes(other.bytes) : one.beginning < other.beginning
    }
}
