import BookModel
import Testing

@Suite struct SlugTests {
    @Test(arguments: ["30776", "5000000001", "emma_0801_librivox", "01_emma", "a-b.c", "section-7", "20000leagues"])
    func `a harmless name stands as it is`(_ name: String) {
        #expect(Slug(of: name).description == name)
    }

    @Test(arguments: [
        "", ".", "..", ".x", "a/b", "a b", "~a", "夜航船", "https://a.example/f.xml?token=SECRET", "a%2Fb", "a\u{0}b",
        "007", "0", "-5", "1e3", "7.0", "99999999999999999999", String(repeating: "a", count: 81),
    ])
    func `any other is called by its digest`(_ name: String) {
        let text = Slug(of: name).description
        #expect(text.utf8.count == 33 && text.hasPrefix("~"))
        #expect(text.dropFirst().allSatisfy { $0.isHexDigit && !$0.isUppercase })
    }
}
