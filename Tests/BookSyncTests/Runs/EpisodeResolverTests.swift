import BookModel
import CatalogFetcher
import Foundation
import Support
import Testing

@testable import CatalogStore

/// Which episode of the store each episode of a listing is, and which number it has.
@Suite struct EpisodeResolverTests {
    private func item(
        _ title: String, guid: String? = nil, url: String? = nil, number: Int? = nil, day: Int? = nil
    ) -> String {
        "<item><title>\(title)</title>" + (guid.map { "<guid>\($0)</guid>" } ?? "")
            + (number.map { "<itunes:episode>\($0)</itunes:episode>" } ?? "")
            + (day.map { "<pubDate>\($0 < 10 ? "0" : "")\($0) Sep 2010 10:00:00 GMT</pubDate>" } ?? "")
            + #"<enclosure url="\#(url ?? "http://a.example/\(title).mp3")" type="audio/mpeg"/></item>"#
    }

    /// What a feed proposes.
    private func proposals(_ items: [String]) throws -> [Episode] {
        let text = #"<rss version="2.0"><channel><title>T</title>"# + items.joined() + "</channel></rss>"
        return try FeedSettings().read(
            CatalogResponse(bytes: Array(text.utf8), address: ResourceAddress("http://a.example/f")), source: "feed",
            id: "f"
        ).episodes
    }

    /// Lists the feed night after night, as the store does.
    private struct Nights {
        var known: [String: Episode] = [:]

        /// Of the last night.
        var misnumbered = 0

        mutating func list(_ proposals: [Episode], renumbers: Bool = false, isRenamed: Bool = false) -> [Episode] {
            let known = known.values.sorted { $0.identity.key < $1.identity.key }
            var resolver = EpisodeResolver(known: known, isRenamed: isRenamed)
            let resolved = resolver.resolve(proposals, renumbers: renumbers)
            misnumbered = resolver.misnumbered
            for episode in resolved { self.known[episode.identity.key] = episode }
            return resolved
        }
    }

    private func sections(_ episodes: [Episode]) -> [String: Int] {
        Dictionary(uniqueKeysWithValues: episodes.map { ($0.name, $0.section) })
    }

    @Test(arguments: ["e", "key", "hash", "time", "ts", "user", "source"])
    func `guids that differ in what elsewhere changes keep their episodes when another one comes`(
        parameter: String
    ) throws {
        func item(_ number: Int) -> String {
            self.item("\(number)", guid: "http://a.example/episode?\(parameter)=\(number)")
        }
        var nights = Nights()
        let alone = try #require(nights.list(try proposals([item(1)])).first)
        let first = nights.list(try proposals((1...5).map(item)))
        #expect(first.first?.identity == alone.identity)
        #expect(Set(first.map(\.identity)).count == 5)
        let second = nights.list(try proposals([item(6)] + (2...5).map(item)))
        #expect(second.dropFirst().map(\.identity) == first.dropFirst().map(\.identity))
        #expect(!first.map(\.identity).contains(second[0].identity))
    }

    @Test func `a token that rotates within a guid makes no new episode`() throws {
        var nights = Nights()
        func item(_ number: Int, token: Int) -> String {
            self.item("\(number)", guid: "http://a.example/\(number)?token=\(token)", day: number)
        }
        let first = nights.list(try proposals((1...3).map { item($0, token: 1) }))
        let second = nights.list(try proposals((1...3).map { item($0, token: 2) }))
        #expect(second.map(\.identity) == first.map(\.identity))
    }

    @Test func `another episode at the place of one that went is a new one`() throws {
        var nights = Nights()
        let url = "http://a.example/latest.mp3"
        let first = nights.list(try proposals([item("Monday", guid: "http://a.example/?e=1", url: url, day: 1)]))
        let second = nights.list(
            try proposals([item("Tuesday", guid: "http://a.example/?e=2", url: url + "?2", day: 2)]))
        #expect(first[0].identity != second[0].identity)
        #expect(second[0].section == 2)
    }

    @Test func `another guid with another date at one address is another episode, every hour anew`() throws {
        var nights = Nights()
        func bulletin(_ hour: Int) -> String {
            "<item><title>News</title><guid>news-\(hour)</guid><pubDate>6 Sep 2010 \(hour):00:00 GMT</pubDate>"
                + #"<enclosure url="http://a.example/latest.mp3" type="audio/mpeg"/></item>"#
        }
        let hours = try (10...12).map { nights.list(try proposals([bulletin($0)]))[0] }
        #expect(Set(hours.map(\.identity)).count == 3)
        #expect(hours.map(\.section) == [1, 2, 3])
        // Two at once, the older one under its own address by now.
        let older = bulletin(12).replacing("latest", with: "12")
        let both = nights.list(try proposals([bulletin(13), older]))
        #expect(both[1].identity == hours[2].identity && !hours.map(\.identity).contains(both[0].identity))
    }

    @Test func `guids that change every night mean nothing, also on the night of another date`() throws {
        var nights = Nights()
        func parts(_ night: Int, dates: (Int) -> Int) throws -> [Episode] {
            try proposals(
                (1...4).map {
                    item("Part \($0)", guid: "n\(night)-\($0)", url: "http://a.example/\($0).mp3", day: dates($0))
                })
        }
        let first = nights.list(try parts(1) { $0 })
        #expect(nights.list(try parts(2) { $0 }).map(\.identity) == first.map(\.identity))
        #expect(nights.list(try parts(3) { $0 == 2 ? 9 : $0 }).map(\.identity) == first.map(\.identity))
        // One that is added has other guids as well, and is new.
        let grown =
            try parts(4) { $0 == 2 ? 9 : $0 }
            + proposals([item("Part 5", guid: "n4-5", url: "http://a.example/5.mp3", day: 5)])
        #expect(nights.list(grown).prefix(4).map(\.identity) == first.map(\.identity))
        #expect(nights.known.count == 5)
    }

    /// How 80 episodes change in one night, with their addresses: nothing but what is listed here stays.
    enum Edit: CaseIterable { case numberInTitle, numberOfFeed, fileName, beginning, ending, punctuation, zone }

    @Test(arguments: Edit.allCases)
    func `titles that are edited in the night of other addresses keep their episodes`(edit: Edit) throws {
        var nights = Nights()
        let words = ["Loomings", "The Carpet-Bag", "The Spouter-Inn", "The Counterpane", "Breakfast"]
        func item(_ n: Int, edited: Bool) -> String {
            let plain = "\(words[n % 5]) of day \(["a", "b", "c", "d"][n % 4])"
            var (title, file) = (plain, edited ? "new-\(1000 - n)" : "old-\(n)")
            switch edit {
            case .numberInTitle: title = edited ? "\(n). Other words" : "No. \(n): \(plain)"
            case .numberOfFeed: title = edited ? "Nothing of it" : plain
            case .fileName: (title, file) = (edited ? "Nothing of it" : plain, "ep-\(n)")
            case .beginning: title = edited ? "Moby Dick, " + plain : plain
            case .ending: title = edited ? plain + " (revised and mixed again)" : plain
            case .punctuation: title = edited ? plain.uppercased().replacing("-", with: " – ") + "!" : plain
            case .zone: (title, file) = (edited ? plain + "." : plain, "ep-\(n)")
            }
            // Two a day, in the evening; in another zone that is the next morning.
            var (day, time) = (n / 2 % 20 + 10, "2\(n % 2):00:00 GMT")
            if edited { (day, time) = edit == .zone ? (day + 1, "01:10:00 GMT") : (day, "00:00:00 GMT") }
            let number = edit == .numberOfFeed ? "<itunes:episode>\(n + 1)</itunes:episode>" : ""
            let address = "http://\(edited ? "b" : "a").example/\(file).mp3"
            return """
                <item><title>\(title)</title><pubDate>\(day) \(n < 40 ? "Sep" : "Oct") 2010 \(time)</pubDate>\(number)
                <enclosure url="\(address)" type="audio/mpeg"/></item>
                """
        }
        func listed(_ edited: Bool) throws -> [Episode] {
            try proposals((0..<80).map { item($0, edited: edited) })
        }
        let before = nights.list(try listed(false))
        #expect(nights.list(try listed(true)).map(\.identity) == before.map(\.identity))
        #expect(nights.known.count == 80)
    }

    @Test(arguments: [false, true])
    func `under another title days and figures count only where an episode is recognised otherwise`(
        keepsOne: Bool
    ) throws {
        var nights = Nights()
        let tales = (1...4).map { (day: Int) in item("Tale no. \(day)", guid: "t\(day)", day: day) }
        let first = nights.list(try proposals(tales))
        let next = try proposals(
            (1...4).map { (day: Int) in
                item("Report \(day)", guid: keepsOne && day == 1 ? "t1" : "r\(day)", day: day)
            })
        let resolved = nights.list(next, isRenamed: true)
        let common = Set(resolved.map(\.identity)).intersection(first.map(\.identity))
        #expect(common.count == (keepsOne ? 4 : 0))
        #expect(nights.known.count == (keepsOne ? 4 : 8))
    }

    @Test func `what is another episode of the same day stays one`() throws {
        var nights = Nights()
        func one(_ title: String, _ file: String) throws -> Episode {
            nights.list(try proposals([item(title, url: "http://a.example/\(file).mp3", day: 6)]))[0]
        }
        let titles = [
            "Part 1 of the story", "Part 2 of the story", "Morning bulletin", "Evening bulletin", "早间新闻", "晚间新闻",
        ]
        let episodes = try titles.enumerated().map { try one($1, "\($0)") }
        #expect(Set(episodes.map(\.identity)).count == titles.count)
    }

    @Test func `an older library keeps its numbers until the user asks for those of the titles`() throws {
        var nights = Nights()
        let titles = (1...5).map { "Lettura \(["I", "II", "III", "IV", "V"][$0 - 1])" }
        let listed = try proposals(
            titles.enumerated().map { item($1, guid: "g\($0)", url: "http://a.example/\($0).mp3", day: 9 - $0) })
        for (index, episode) in listed.enumerated() {
            var known = episode
            known.section = 5 - index
            nights.known[known.identity.key] = known
        }
        #expect(nights.list(listed).map(\.section) == [5, 4, 3, 2, 1])
        #expect(nights.misnumbered == 4)
        #expect(nights.list(listed, renumbers: true).map(\.section) == [1, 2, 3, 4, 5])
        #expect(nights.list(listed).map(\.section) == [1, 2, 3, 4, 5])
        #expect(nights.misnumbered == 0)
    }

    @Test func `the last items of a feed keep their numbers also when all are numbered anew`() throws {
        var nights = Nights()
        func last(_ range: ClosedRange<Int>) throws -> [Episode] {
            try proposals(range.reversed().map { (n: Int) in item("\(n)", guid: "\(n)", day: n) })
        }
        _ = nights.list(try last(11...15))
        let renumbered = nights.list(try last(14...18), renumbers: true)
        #expect(sections(renumbered) == ["14": 4, "15": 5, "16": 6, "17": 7, "18": 8])
    }

    @Test func `guids that come and go, and another host, change no identity`() throws {
        var nights = Nights()
        func items(guids: Bool, host: String) throws -> [Episode] {
            try proposals(
                (1...4).map { (n: Int) in
                    item("\(n)", guid: guids ? "g-\(n)" : nil, url: "http://\(host)/\(n).mp3", day: n)
                })
        }
        let first = nights.list(try items(guids: true, host: "a.example"))
        for (guids, host) in [(false, "a.example"), (false, "b.example"), (true, "b.example"), (true, "a.example")] {
            #expect(nights.list(try items(guids: guids, host: host)).map(\.identity) == first.map(\.identity))
        }
    }

    @Test func `one item without a number leaves the others theirs, and takes none that may be claimed`() throws {
        var nights = Nights()
        let numbered = (1...4).map { (n: Int) in item("\(n)", number: n, day: n) }
        let first = nights.list(try proposals(numbered + [item("Trailer", day: 2)]))
        #expect(sections(first) == ["1": 1, "2": 2, "3": 3, "4": 4, "Trailer": 0])
        let second = nights.list(try proposals(numbered + [item("5", number: 5, day: 5), item("Bonus", day: 6)]))
        #expect(sections(second) == ["1": 1, "2": 2, "3": 3, "4": 4, "5": 5, "Bonus": 0])
    }

    @Test func `a feed that keeps its last items gives new ones the next numbers`() throws {
        var nights = Nights()
        func last(_ range: ClosedRange<Int>) throws -> [Episode] {
            try proposals(range.reversed().map { (n: Int) in item("\(n)", day: n) })
        }
        #expect(sections(nights.list(try last(11...15))) == ["11": 1, "12": 2, "13": 3, "14": 4, "15": 5])
        #expect(sections(nights.list(try last(13...17))) == ["13": 3, "14": 4, "15": 5, "16": 6, "17": 7])
        // One that is put in later goes behind, and moves nothing.
        let more = try proposals([17, 16, 12, 15].map { (n: Int) in item(n == 12 ? "late" : "\(n)", day: n) })
        #expect(sections(nights.list(more)) == ["17": 7, "16": 6, "late": 8, "15": 5])
    }

    @Test func `a number that a feed corrects or repeats moves no episode`() throws {
        var nights = Nights()
        _ = nights.list(try proposals((1...4).map { (n: Int) in item("\(n)", number: n) }))
        let shifted = nights.list(try proposals((1...5).map { (n: Int) in item("\(n)", number: n + 1) }))
        #expect(sections(shifted) == ["1": 1, "2": 2, "3": 3, "4": 4, "5": 6])
        let seasons = nights.list(try proposals((1...6).map { (n: Int) in item("\(n)", number: n % 3 + 1) }))
        #expect(sections(seasons)["6"] == 7)
        #expect(seasons.prefix(5).map(\.section) == [1, 2, 3, 4, 6])
    }

    @Test func `rows of a store that knew no raw keys are recognised, told apart by position or not`() throws {
        let listed = try proposals((1...3).map { (n: Int) in item("\(n)", guid: "http://a.example/x?e=\(n)", day: n) })
        // What the version before gave to guids that it took for one: the place behind the first.
        let old = ["guid-0f", "guid-0f-2", "guid-0f-3"]
        let known = zip(old, listed).map { key, episode in
            Episode(
                identity: EpisodeIdentity(book: episode.identity.book, key: key), section: episode.section + 20,
                name: episode.name, address: episode.address, publishedAt: episode.publishedAt)
        }
        var resolver = EpisodeResolver(known: known)
        let resolved = resolver.resolve(Array(listed.reversed()))
        #expect(resolved.map(\.identity.key) == ["guid-0f-3", "guid-0f-2", "guid-0f"])
        #expect(resolved.map(\.section) == [23, 22, 21])
    }

    @Test func `thousands of guids that are one without their tokens are told apart at once`() throws {
        let count = Tier.choose(quick: 4000, full: 20_000, long: 20_000)
        let items = (1...count).map { (n: Int) in
            item("\(n)", guid: "http://a.example/?token=\(n)", url: "http://a.example/\(n)")
        }
        var nights = Nights()
        let first = nights.list(try proposals(items))
        #expect(Set(first.map(\.identity.key)).count == count)
        #expect(nights.list(try proposals(items)).map(\.identity) == first.map(\.identity))
    }

    @Test func `a catalog's own numbers and ids are followed wherever they go`() {
        let book = BookIdentity(source: "cat", id: "1")
        let episode = Episode(identity: EpisodeIdentity(book: book, key: "7"), section: 9, name: "x")
        var resolver = EpisodeResolver(known: [Episode(identity: episode.identity, section: 3, name: "x")])
        #expect(resolver.resolve([episode]) == [episode])
    }
}
