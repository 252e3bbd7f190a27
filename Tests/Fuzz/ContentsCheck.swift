import BookModel
import CatalogFetcher
import Foundation

/// What holds of everything that is read, whatever it was read from.
enum ContentsCheck {
    static func complaints(about contents: CatalogContents) -> [String] {
        var complaints: [String] = []
        func check(_ isMet: Bool, _ complaint: @autoclosure () -> String) {
            if !isMet { complaints.append(complaint()) }
        }
        let episodes = contents.episodes
        check(Set(episodes.map(\.identity.key)).count == episodes.count, "keys that are not distinct")
        check(episodes.allSatisfy { $0.identity.book == contents.identity }, "an episode of another book")
        let proof = contents.listing.proof
        check(proof.collected == episodes.count, "a wrong count: \(proof.collected) of \(episodes.count)")
        check((proof.declared ?? 1) > 0, "a declared number below 1: \(proof.declared ?? 0)")
        check(
            proof.warnings.map(\.description).allSatisfy { isShort($0, 2000) && isLine($0) },
            "an odd warning: \(proof.warnings.map(\.description))")
        let book = contents.book
        check(!book.title.isEmpty && isLine(book.title), "an odd title: \(book.title.debugDescription)")
        for text in [book.author, book.narrator] {
            check(text.map { !$0.isEmpty && isLine($0) } ?? true, "an odd person: \(text.debugDescription)")
        }
        check(isOfWeb(book.cover), "a cover that is no web address: \(book.cover?.secretText ?? "")")
        for episode in episodes { complaints += Self.complaints(about: episode) }
        return complaints
    }

    private static func complaints(about episode: Episode) -> [String] {
        var complaints: [String] = []
        func check(_ isMet: Bool, _ complaint: @autoclosure () -> String) {
            if !isMet { complaints.append(complaint()) }
        }
        check(!episode.identity.key.isEmpty, "an empty key")
        check((0...9_999_999).contains(episode.section), "an odd section: \(episode.section)")
        check(isLine(episode.name), "an odd name: \(episode.name.debugDescription)")
        check(isShort(episode.name, 16000), "a long name: \(episode.name.utf8.count) bytes")
        check(isOfWeb(episode.address), "an address that is no web address: \(episode.address?.secretText ?? "")")
        check((episode.size ?? 1) >= 0, "a negative size: \(episode.size ?? 0)")
        check(episode.duration.map { $0.isFinite && $0 > 0 } ?? true, "an odd duration: \(episode.duration ?? 0)")
        for date in [episode.publishedAt, episode.modifiedAt] {
            // The years that a calendar shows with four digits.
            let seconds = date?.timeIntervalSince1970 ?? 0
            check(
                seconds.isFinite && seconds >= -62_167_219_200 && seconds < 253_402_300_800, "an odd date: \(seconds)")
        }
        check((episode.number ?? 0) >= 0, "a negative number: \(episode.number ?? 0)")
        check((episode.season ?? 0) >= 0, "a negative season: \(episode.season ?? 0)")
        return complaints
    }

    static func complaints(about failure: Failure) -> [String] {
        var complaints: [String] = []
        if ![.unreadableCatalog, .unknownBook].contains(failure.kind) {
            complaints.append("a failure of another kind: \(failure.kind)")
        }
        let text = failure.description
        if !isShort(text, 2000) || !isLine(text) { complaints.append("an odd sentence: \(text.debugDescription)") }
        return complaints
    }

    private static func isShort(_ text: String, _ bytes: Int) -> Bool { text.utf8.count <= bytes }

    /// Whether the text can be shown on one line of a terminal without turning it upside down.
    private static func isLine(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) }
    }

    private static func isOfWeb(_ address: ResourceAddress?) -> Bool {
        guard let address else { return true }
        let text = address.secretText.lowercased()
        return text.hasPrefix("http://") || text.hasPrefix("https://")
    }
}
