import BookModel
import Testing

/// When a book takes over the title, the author and the narrator that its catalog has now.
@Suite struct BookNamesTests {
    private let known = Book(
        identity: BookIdentity(source: "s", id: "1"), title: "Show", author: "Anna", narrator: "Ben")

    /// Night after night: the title that is listed, whether the listing counts, and the title that the book has then.
    @Test(
        arguments: [
            [("New", true, "Show"), ("New", true, "Show"), ("New", true, "New"), ("New", true, "New")],
            // To and fro.
            [("New", true, "Show"), ("New", true, "Show"), ("Show", true, "Show"), ("New", true, "Show")],
            [("New", true, "Show"), ("Newer", true, "Show"), ("New", true, "Show"), ("New", true, "Show")],
            // A placeholder, an empty or a broken listing says nothing, and interrupts nothing.
            [("Back soon", false, "Show"), ("Back soon", false, "Show"), ("Back soon", false, "Show")],
            [("New", true, "Show"), ("Show", false, "Show"), ("New", true, "Show"), ("New", true, "New")],
        ] as [[(String, Bool, String)]])
    func `names change when three listings in a row have the others`(nights: [(String, Bool, String)]) {
        var known = known
        for (title, counts, expected) in nights {
            var book = known
            book.title = title
            book.settleNames(after: known, counts: counts)
            #expect(book.title == expected)
            known = book
        }
    }

    @Test func `author and narrator wait as the title does, and all three come together`() {
        var known = known
        for night in 1...3 {
            var book = known
            (book.title, book.author, book.narrator, book.summary) = ("New", nil, "Carl", "About it")
            book.settleNames(after: known, counts: true)
            #expect(book.names == (night < 3 ? "Show · Anna · Ben" : "New · Carl"))
            #expect(book.summary == "About it")
            #expect(book.candidateListings == (night < 3 ? night : 0))
            known = book
        }
    }
}
