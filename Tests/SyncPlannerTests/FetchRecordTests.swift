import BookModel
import Foundation
import SyncPlanner
import Testing

/// Which episodes the records of other programs are about.
@Suite struct FetchRecordTests {
    private static let book = BookIdentity(source: "feeds", id: "http://h.example/feed.xml")

    private func episode(
        _ section: Int, _ name: String, guid: String? = nil, address: String? = nil, day: Int? = nil
    ) -> Episode {
        Episode(
            identity: EpisodeIdentity(book: Self.book, key: "key\(section)"), section: section, name: name,
            address: address.map { ResourceAddress($0) },
            publishedAt: day.map { Date(timeIntervalSince1970: Double($0) * 86_400 + 3600) }, guid: guid)
    }

    /// The sections that are recorded, and path → section.
    private func recorded(
        _ records: [FetchRecord], _ episodes: [Episode], _ paths: Set<String> = []
    ) -> (sections: [Int], files: [String: Int], unlisted: Int) {
        let found = RecordedEpisodes(records, of: episodes, paths: paths)
        let sections = Dictionary(uniqueKeysWithValues: episodes.map { ($0.identity, $0.section) })
        return (
            found.episodes.compactMap { sections[$0] }.sorted(), found.files.compactMapValues { sections[$0] },
            found.unlisted
        )
    }

    @Test func `an episode is known by its guid, its address, its title and day, and the name of its file`() {
        let episodes = [
            episode(1, "One", guid: "g1", address: "https://h.example/a/one.mp3?sig=1", day: 100),
            episode(2, "Two", address: "https://h.example/a/two.mp3?sig=2", day: 101),
            episode(3, "Three", address: "https://h.example/a/th%20ree.mp3", day: 102), episode(4, "Four", day: 103),
        ]
        let records: [FetchRecord] = [
            FetchRecord([.id("g1")]), FetchRecord([.address("x"), .place(of: "http://h.example/a/two.mp3?sig=99")]),
            FetchRecord([.file("th ree")]), FetchRecord([.title("Four", day: 104)]), FetchRecord([.id("else")]),
        ]
        let found = recorded(records, episodes)
        #expect(found.sections == [1, 2, 3, 4])
        #expect(found.unlisted == 1)
        #expect(recorded([FetchRecord([.title("Four", day: 105)])], episodes).sections == [])
    }

    @Test func `what several episodes share tells none of them`() {
        let episodes = [
            episode(1, "News", guid: "same", address: "http://h.example/1/audio.mp3", day: 100),
            episode(2, "News", guid: "same", address: "http://h.example/2/audio.mp3", day: 101),
        ]
        let shared: [EpisodeMark] = [.id("same"), .file("audio"), .title("News", day: 100)]
        #expect(recorded([FetchRecord(shared)], episodes).sections == [])
        #expect(
            recorded([FetchRecord(shared + [.place(of: "http://h.example/2/audio.mp3")])], episodes).sections == [2])
    }

    @Test func `a file that the program names is the episode's, and is not given twice`() {
        let episodes = [episode(1, "One", guid: "g1"), episode(2, "Two", guid: "g2")]
        let records = [FetchRecord([.id("g1")], file: "a.mp3"), FetchRecord([.id("g2")], file: "a.mp3")]
        let found = recorded(records, episodes, ["a.mp3", "b.mp3"])
        #expect(found.files == ["a.mp3": 1])
        #expect(found.sections == [1, 2])
    }

    @Test func `a file is found by the episode's name, where that is in one name only`() {
        let episodes = [
            episode(1, "Episode 1", guid: "g1"), episode(2, "Episode 10", guid: "g2"),
            episode(3, "第3集 开始", guid: "g3"), episode(4, "Episode 1: again", guid: "g4"), episode(5, "7", guid: "g5"),
            episode(6, "Twice", guid: "g6"),
        ]
        let records = (1...6).map { FetchRecord([.id("g\($0)")]) }
        let paths: Set<String> = [
            "20240301-Episode 1.mp3", "Episode 10 [0abc].mp3", "x/第3集 开始.mp3", "Episode 1_ again [2].mp3", "7.mp3",
            "Twice.mp3", "Twice (1).mp3", "other.mp3",
        ]
        #expect(
            recorded(records, episodes, paths).files == [
                "20240301-Episode 1.mp3": 1, "Episode 10 [0abc].mp3": 2, "x/第3集 开始.mp3": 3,
                "Episode 1_ again [2].mp3": 4,
            ])
    }

    @Test func `an id behind the name comes before the name`() {
        let episodes = [
            episode(1, "Trailer", guid: "g1"), episode(2, "Trailer", guid: "g2"), episode(3, "Last", guid: "g3"),
        ]
        let records = (1...3).map { FetchRecord([.id("g\($0)")]) } + [FetchRecord([.id("g9")])]
        #expect(recorded(records, episodes, ["Last [g9].mp3"]).files.isEmpty)
        let paths: Set<String> = ["Trailer [g2].mp3", "a/Trailer [g1].mp3", "Last [other].mp3"]
        #expect(
            recorded(records, episodes, paths).files
                == ["Trailer [g2].mp3": 2, "a/Trailer [g1].mp3": 1, "Last [other].mp3": 3])
    }

    @Test func `a recorded file is taken whatever its name and size, unless it is no audio`() {
        let episodes = [episode(1, "One", guid: "g1"), episode(2, "Two", guid: "g2")]
        let facts = FileAttributes(size: 900, modificationTime: 1, inode: 1, kind: .file)
        let files = ["a.mp3": facts, "b.mp3": facts]
        let claims = Dictionary(uniqueKeysWithValues: zip(["a.mp3", "b.mp3"], episodes.map(\.identity)))
        let book = Book(identity: Self.book, title: "News", isComplete: true)
        func matcher(_ examined: [String: ExaminedFile]) -> EpisodeMatcher {
            EpisodeMatcher(episodes, of: book, among: files, examined: examined, claims: claims, least: .name)
        }
        #expect(matcher([:]).questions == ["a.mp3": .beginning, "b.mp3": .beginning])
        let answered = matcher([
            "a.mp3": ExaminedFile(facts: facts, beginning: .unknown),
            "b.mp3": ExaminedFile(facts: facts, beginning: .foreign("an HTML page")),
        ])
        #expect(answered.matches.map(\.path) == ["a.mp3"])
        #expect(answered.matches.first?.confidence == .record)
        #expect(answered.ambiguous.isEmpty)
    }
}
