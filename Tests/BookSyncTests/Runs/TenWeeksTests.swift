import BookModel
import CatalogFetcher
import CatalogStore
import Foundation
import Support
import Testing
import Transport

@testable import BookSync

/// A feed as it changes from night to night. Every item's duration tells which episode it really is.
private struct ChangingFeed {
    struct Item {
        var id: Int
        var title: String
        var number: Int?
        /// Seconds since 1970.
        var date: Int
    }

    enum Guids: CaseIterable { case plain, signed, numbered, none }
    enum Addresses: CaseIterable { case files, signedFiles, script }

    var items: [Item] = []
    var guids: Guids
    let addresses: Addresses
    let isDated: Bool
    var isNumbered: Bool
    let isNewestFirst: Bool
    /// How many of the last items the feed keeps.
    let cap: Int?
    var host = "a.example"
    var scheme = "http"
    var token = 1
    /// What is added to all numbers.
    var shift = 0
    var hasLostGuids = false
    private var nextID = 1

    init(using chance: inout SeededGenerator) {
        guids = Guids.allCases.randomElement(using: &chance) ?? .plain
        addresses = Addresses.allCases.randomElement(using: &chance) ?? .files
        isDated = Int.random(in: 0..<5, using: &chance) > 0
        isNumbered = Bool.random(using: &chance)
        isNewestFirst = isDated && Int.random(in: 0..<4, using: &chance) > 0
        cap = Bool.random(using: &chance) ? Int.random(in: 5...20, using: &chance) : nil
        for _ in 0..<Int.random(in: 1...20, using: &chance) { grow(on: 0, using: &chance) }
    }

    mutating func grow(on night: Int, using chance: inout SeededGenerator) {
        let isBonus = isDated && Int.random(in: 0..<12, using: &chance) == 0
        let item = Item(
            id: nextID, title: isBonus ? "Bonus" : "第\(nextID)集", number: isBonus ? nil : nextID,
            date: 1_700_000_000 + night * 86_400 + nextID)
        nextID += 1
        // A bonus may be put in among the older ones.
        if isBonus, let place = items.indices.randomElement(using: &chance) {
            items.insert(item, at: place)
        } else {
            items.append(item)
        }
    }

    /// What happens on a night. What tells an episode from others does not all change at once.
    mutating func change(on night: Int, using chance: inout SeededGenerator) {
        func odds(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &chance) == 0 }
        for _ in 0..<Int.random(in: 0...2, using: &chance) { grow(on: night, using: &chance) }
        token += 1
        if odds(30) { shift += Int.random(in: -2...3, using: &chance) }
        if odds(40) { isNumbered.toggle() }
        switch Int.random(in: 0..<40, using: &chance) {
        case 0: hasLostGuids.toggle()
        case 1: host = host == "a.example" ? "b.example" : "a.example"
        case 2: scheme = "https"
        // Where nothing but the title and the date tells episodes apart, a corrected title is another episode.
        case 3...5 where !hasLostGuids && guids == .plain:
            if let place = items.indices.randomElement(using: &chance), items[place].title != "Bonus" {
                items[place].title += "（修订）"
            }
        default: break
        }
    }

    var text: String {
        var shown = cap.map { Array(items.suffix($0)) } ?? items
        if isNewestFirst { shown.reverse() }
        let elements = shown.map { item in
            let guid: String? =
                switch hasLostGuids ? .none : guids {
                case .plain: "g-\(item.id)"
                case .signed: "\(scheme)://\(host)/e/\(item.id)?token=\(token)"
                // Told apart only by what elsewhere is a time of expiry.
                case .numbered: "\(scheme)://\(host)/e?e=\(item.id)"
                case .none: nil
                }
            let address =
                switch addresses {
                case .files: "/\(item.id).mp3"
                case .signedFiles: "/\(item.id).mp3?Expires=\(token)&amp;Signature=s\(token)"
                case .script: "/get.php?key=\(item.id)&amp;ts=\(token)"
                }
            let number = isNumbered ? item.number.map { "<itunes:episode>\(max(1, $0 + shift))</itunes:episode>" } : nil
            let date = HTTPDate.text(Int64(item.date))
            return "<item><title>\(item.title)</title>" + (guid.map { "<guid>\($0)</guid>" } ?? "") + (number ?? "")
                + (isDated ? "<pubDate>\(date)</pubDate>" : "") + "<itunes:duration>\(1000 + item.id)</itunes:duration>"
                + #"<enclosure url="\#(scheme)://\#(host)\#(address)" type="audio/mpeg"/></item>"#
        }
        return #"<rss version="2.0"><channel><title>T</title>"# + elements.joined() + "</channel></rss>"
    }
}

/// Seventy nights of feeds: whatever they do, every episode has one row, which keeps its file and its number.
@Suite struct TenWeeksTests {
    private static let seeds: UInt64 = Tier.choose(quick: 2, full: 20, long: 1000)

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `every episode has one row, and is renumbered by no change of another`(block: UInt64) throws {
        for seed in stride(from: block, to: Self.seeds, by: 10) { try check(seed) }
    }

    private func check(_ seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed)
        var feed = ChangingFeed(using: &chance)
        let address = ResourceAddress("http://a.example/feed.xml")
        var known: [String: Episode] = [:]
        /// Which episode a row's file really is.
        var files: [String: Int] = [:]
        for night in 1...70 {
            feed.change(on: night, using: &chance)
            // The server is down, or answers with something else.
            if Int.random(in: 0..<15, using: &chance) == 0 { continue }
            let contents = try FeedSettings().read(
                CatalogResponse(bytes: Array(feed.text.utf8), address: address), source: "feed", id: "x")
            var resolver = EpisodeResolver(known: Array(known.values))
            let resolved = resolver.resolve(contents.episodes)
            #expect(Set(resolved.map(\.identity.key)).count == resolved.count, "seed \(seed), night \(night)")
            for episode in resolved {
                let key = episode.identity.key
                let id = Int(try #require(episode.duration)) - 1000
                let note: Comment = "seed \(seed), night \(night), episode \(id) as \(key)"
                if let row = known[key] {
                    #expect(files[key] == id, note)
                    #expect(row.section == episode.section, note)
                } else {
                    #expect(!files.values.contains(id), note)
                    files[key] = id
                }
                let rawKey = episode.rawKey ?? known[key]?.rawKey
                known[key] = episode
                known[key]?.rawKey = rawKey
            }
        }
        // Bonus episodes have none; all others have one of their own.
        let numbers = known.values.map(\.section).filter { $0 > 0 }
        #expect(Set(numbers).count == numbers.count, "seed \(seed)")
        #expect(known.count == files.count && known.count > 1, "seed \(seed)")
    }
}
