import BookModel
import Testing

@Suite struct ShardTests {
    private let books = (0..<20_000).map { BookIdentity(source: "archive", id: "book-\($0)") }

    // Of an implementation of the same formula in Python.
    @Test(arguments: [
        ("kting", "30776", [0, 0, 4, 4, 44]), ("feed", "http://example.org/回到古代当兽医.xml", [0, 0, 8, 8, 39]),
        ("archive", "alice_0711_librivox", [0, 1, 13, 13, 13]),
    ])
    func `a book falls to the same shard in every version`(source: String, id: String, shards: [Int]) {
        let book = BookIdentity(source: source, id: id)
        #expect([1, 2, 16, 17, 64].map { Shard.index(of: book, among: $0) } == shards)
    }

    @Test func `shards are of about one size`() {
        let sizes = Dictionary(grouping: books) { Shard.index(of: $0, among: 16) }.mapValues(\.count)
        #expect(sizes.count == 16 && sizes.values.allSatisfy { (1125...1375).contains($0) })
    }

    @Test func `one shard more takes its part of the others, and nothing moves between these`() {
        let moved = books.filter { Shard.index(of: $0, among: 16) != Shard.index(of: $0, among: 17) }
        #expect(moved.allSatisfy { Shard.index(of: $0, among: 17) == 16 })
        #expect((1050...1300).contains(moved.count))
    }

    @Test(arguments: [("0/1", 0, 1), ("15/16", 15, 16)])
    func `a shard is written with its number and how many there are`(text: String, index: Int, count: Int) {
        let shard = Shard(parsing: text)
        #expect(shard?.index == index && shard?.count == count && shard?.description == text)
    }

    @Test(arguments: ["", "3", "16/16", "-1/4", "0/0", "1/2/3", "a/b", "1/", "/4", "0/-1"])
    func `what names no shard is refused`(text: String) {
        #expect(Shard(parsing: text) == nil)
    }

    @Test func `of each list the shards follow no more books together than was asked for`() {
        let list = BookIdentity(source: "archive", id: "collection:librivoxaudio")
        let subscriptions = [
            Subscription(book: list, collection: CollectionFilter(maxBooks: 21)),
            Subscription(book: BookIdentity(source: "kting", id: "30776")),
        ]
        let parts = (0..<16).compactMap { Shard(index: $0, count: 16)?.part(of: subscriptions) }
        #expect(parts.flatMap(\.self).filter { !$0.book.isCollection }.count == 1 && parts[4].count == 2)
        let lists = parts.compactMap { part in part.first { $0.book == list }?.collection }
        #expect(lists.count == 16 && lists.compactMap(\.maxBooks).reduce(0, +) == 21)
        #expect(lists.map(\.shard) == (0..<16).map { Shard(index: $0, count: 16) })
    }
}
