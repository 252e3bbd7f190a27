import BookModel
import Testing

@testable import BookSyncCLI

@Suite struct TextTableTests {
    private let shelf = TextTable(
        columns: [
            .init(title: "BOOK"), .init(title: "TITLE", isFlexible: true), .init(title: "AUTHOR", isFlexible: true),
            .init(title: "MISSING", alignment: .trailing),
        ],
        rows: [
            ["kting:30776", "回到古代当兽医", "楚景", "2"],
            ["librivox:47", "The Adventures of Sherlock Holmes", "Sir Arthur Conan Doyle", "0"],
            ["feeds:x", "短", "", "112"],
        ])

    private func screen(_ width: Int?) -> String { lines(of: shelf, width).joined(separator: "\n") }

    private func lines(of table: TextTable, _ width: Int?) -> [String] {
        table.lines(OutputStyle(width: width, words: Wordings(.english))).map(\.text)
    }

    @Test func `off a terminal nothing is wrapped`() {
        #expect(
            screen(nil) == """
                BOOK         TITLE                              AUTHOR                  MISSING
                kting:30776  回到古代当兽医                     楚景                          2
                librivox:47  The Adventures of Sherlock Holmes  Sir Arthur Conan Doyle        0
                feeds:x      短                                                             112
                """)
        #expect(screen(200) == screen(nil))
    }

    @Test(arguments: [0, 1, 3, 9000]) func `as many rows as memory holds are laid out as a few are`(count: Int) async {
        let odd = ["plain", "回到古代", "", "ends in a space ", "tab\there", "e\u{301}", "😀 \u{202E}", "ﬁne Ｗide"]
        let row = { @Sendable (number: Int) in
            [odd[number % 8], "\(number)", odd[number / 8 % 8], number % 3 == 0 ? "" : "\(number * number)"]
        }
        var written: [UInt8] = []
        await TextTable.write(Array(0..<count), in: shelf.columns, Wordings(.english), row: row) { written += $0 }
        let whole = lines(of: TextTable(columns: shelf.columns, rows: (0..<count).map(row)), nil)
        #expect(String(decoding: written, as: UTF8.self) == whole.map { $0 + "\n" }.joined())
    }

    @Test func `what does not fit stands whole below its row, the last flexible column first`() {
        #expect(
            screen(60) == """
                BOOK         TITLE                              MISSING
                    AUTHOR
                kting:30776  回到古代当兽医                           2
                    楚景
                librivox:47  The Adventures of Sherlock Holmes        0
                    Sir Arthur Conan Doyle
                feeds:x      短                                     112
                """)
        #expect(
            screen(30) == """
                BOOK         MISSING
                    TITLE
                    AUTHOR
                kting:30776        2
                    回到古代当兽医
                    楚景
                librivox:47        0
                    The Adventures of Sherlock
                    Holmes
                    Sir Arthur Conan Doyle
                feeds:x          112
                    短
                """)
    }

    @Test func `nothing is cut at any width that holds a wide character`() {
        func letters(_ text: String) -> [Character] { text.filter { !$0.isWhitespace }.sorted() }
        for width in 2...120 { #expect(letters(screen(width)) == letters(screen(nil)), "\(width)") }
    }

    @Test func `no line is wider than the terminal, whatever its width`() {
        for width in 1...120 {
            #expect(lines(of: shelf, width).allSatisfy { DisplayWidth.columns(of: $0) <= width }, "\(width)")
        }
    }

    @Test func `a table without titles has no header and short rows are filled`() {
        let table = TextTable(
            columns: [.init(title: ""), .init(title: "", alignment: .trailing)], rows: [["a"], ["bb", "7"]])
        #expect(lines(of: table, nil) == ["a", "bb  7"])
    }

    @Test func `where it is too narrow still, optional columns are left out, the last one first`() {
        var table = shelf
        table.columns[0].isOptional = true
        table.columns.append(.init(title: "BYTES", alignment: .trailing, isOptional: true))
        table.rows[0].append("1.1 MB")
        #expect(lines(of: table, 25).prefix(2) == ["BOOK         MISSING", "    TITLE"])
        #expect(lines(of: table, 16).prefix(2) == ["MISSING", "    TITLE"])
        #expect(lines(of: table, nil)[0].hasSuffix("MISSING   BYTES"))
    }

    @Test func `on a terminal a column in which nothing is said is left out`() {
        let table = TextTable(
            columns: [.init(title: "A"), .init(title: "WHY", isFlexible: true), .init(title: "B")],
            rows: [["1", "", "2"]])
        #expect(lines(of: table, 80) == ["A  B", "1  2"])
        #expect(lines(of: table, nil) == ["A  WHY  B", "1       2"])
    }

    @Test(arguments: [20, 4])
    func `a cell has its colour beside its row and below, and the header has none`(width: Int) {
        let table = TextTable(
            columns: [.init(title: "N"), .init(title: "STATE", isFlexible: true) { $0 == "bad" ? .red : nil }],
            rows: [["1", "bad"], ["2", "good"]])
        let shown = table.lines(OutputStyle(width: width, words: Wordings(.english))).map { $0.shown(usesColor: true) }
        #expect(shown.filter { $0.contains("\u{1B}[31mbad\u{1B}[0m") }.count == 1)
        #expect(shown.filter { $0.contains("\u{1B}") }.count == 1)
    }

    @Test func `a cell that is too wide stands alone, and the rest of its row below it, in its columns`() {
        let table = TextTable(
            columns: [
                .init(title: "", alignment: .trailing), .init(title: "BOOK"), .init(title: "TITLE", isFlexible: true),
                .init(title: "MISSING", alignment: .trailing),
            ],
            rows: [["@1", "feed:https://example.org/podcasts/feed.xml", "Tea", "2"], ["@2", "demo:1", "Ice", "17"]])
        #expect(
            lines(of: table, 40) == [
                "    BOOK                         MISSING", "    TITLE",
                "@1  feed:https://example.org/podcasts/fe", "    ed.xml",
                "                                       2", "    Tea",
                "@2  demo:1                            17", "    Ice",
            ])
    }

    @Test func `a command that is too long is broken behind its own indentation`() {
        let table = TextTable(
            columns: [.init(title: ""), .init(title: "", isFlexible: true)],
            rows: [["  booksync fetch https://example.org/feed.xml", "download"], ["  booksync help", "list"]])
        #expect(
            lines(of: table, 40) == [
                "  booksync fetch", "      https://example.org/feed.xml", "    download", "  booksync help", "    list",
            ])
    }
}
