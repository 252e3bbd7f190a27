import Foundation

/// A book of the demo catalog.
struct DemoBook: Sendable {
    let id: Int
    let name: String
    let author: String
    let announcer: String
    let summary: String
    let sections: Int
    /// The id of section 1; the others count on from it.
    let firstID: Int
    /// Listed with a `path` of null.
    var withoutPath: Set<Int> = []
    /// Listed with an empty `path`.
    var withEmptyPath: Set<Int> = []
    /// Sections of which the catalog tells a wrong size, and by how many bytes.
    var staleBytes: [Int: Int] = [:]

    static let all = [
        DemoBook(
            id: 30776, name: "回到古代当兽医", author: "演示作者", announcer: "八音盒",
            summary: "booksync 自带的演示书目：一百一十二集，其中两集未开放。声音是合成的旋律。", sections: 112,
            firstID: 301_500_958, withoutPath: [57], withEmptyPath: [112], staleBytes: [24: 4321]),
        DemoBook(
            id: 40111, name: "夜航船", author: "演示作者二", announcer: "八音盒", summary: "booksync 自带的第二本演示书：六集短篇。",
            sections: 6, firstID: 5_000_000_001),
    ]

    /// The book of that id, in decimal digits.
    static func withID(_ text: String) -> DemoBook? {
        all.first { String($0.id) == text }
    }

    func isLocked(_ section: Int) -> Bool {
        withoutPath.contains(section) || withEmptyPath.contains(section)
    }

    func isListed(_ section: Int) -> Bool {
        (1...sections).contains(section)
    }

    /// `第001集_回到古代当兽医`
    func episodeName(_ section: Int) -> String {
        "第\(String(format: "%03ld", section))集_\(name)"
    }

    /// `/audio/30776/001.mp3`
    func audioPath(_ section: Int) -> String {
        "/audio/\(id)/\(String(format: "%03ld", section)).mp3"
    }

    /// The open episode whose audio is at that path; nil when there is none.
    static func episode(audioPath path: String) -> (book: DemoBook, section: Int)? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0].isEmpty, parts[1] == "audio", let book = withID(String(parts[2])),
            let section = Int(parts[3].prefix { $0 != "." }), book.isListed(section), !book.isLocked(section),
            book.audioPath(section) == path
        else { return nil }
        return (book, section)
    }
}
