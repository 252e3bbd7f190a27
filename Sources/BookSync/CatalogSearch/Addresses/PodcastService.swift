import BookModel
import Foundation
import Transport

/// A service that plays podcasts, whose address users type instead of the feed's.
struct PodcastService {
    let name: String
    /// The podcast's number in Apple's directory, which says where its feed is; nil where the address does not have it.
    let number: String?
    /// The country of the shop that has it.
    let country: String?
    /// The podcast's name in the address; empty if it has none.
    let title: String

    /// By the ends of their hosts.
    private static let names = [
        "podcasts.apple.com": "Apple Podcasts", "itunes.apple.com": "Apple Podcasts", "overcast.fm": "Overcast",
        "castro.fm": "Castro", "pod.link": "pod.link", "spotify.com": "Spotify", "audible.com": "Audible",
        "music.amazon.com": "Amazon Music", "deezer.com": "Deezer",
    ]

    init?(_ address: ResourceAddress) {
        guard let host = address.host?.lowercased(),
            let name = Self.names.first(where: { ".\(host)".hasSuffix(".\($0.key)") })?.value
        else { return nil }
        self.name = name
        let parts = address.withoutSecrets.split(separator: "/").dropFirst(2)
        number = address.secretText.firstMatch(of: /(?:\/id|\/itunes\/?|pod\.link\/)(\d{5,})/).map { String($0.1) }
        country = parts.first.flatMap { $0.count == 2 ? String($0) : nil }
        let slug =
            parts.drop { $0 != "podcast" }.dropFirst().first { !$0.hasPrefix("id") } ?? parts.last { $0.contains("-") }
        title = slug?.removingPercentEncoding ?? ""
    }

    /// A command that is safe to paste into a shell: of the title it has only letters and digits.
    static func search(for title: String) -> String {
        let words = title.split { !$0.isLetter && !$0.isNumber }.joined(separator: " ").prefix(80)
        return words.isEmpty ? "booksync find TITLE" : "booksync find \"\(words)\""
    }
}
