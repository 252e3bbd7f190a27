import BookModel
import Foundation
import Testing

@testable import LibraryFiles

@Suite struct NamingTemplateTests {
    private func path(
        _ template: String, _ episode: Episode, of book: Book = Sample.book(), width: Int = 3
    ) throws -> String {
        try NamingTemplate(parsing: template).path(for: episode, of: book, width: width, extension: "mp3")
    }

    @Test func `the standard naming gives author, title, number and name`() throws {
        let book = Sample.book("回到古代当兽医", author: "一人")
        let text = try path(NamingTemplate.standardText, Sample.episode(7, "第007集_回到古代当兽医"), of: book)
        #expect(text == "一人/回到古代当兽医/007 第007集_回到古代当兽医.mp3")
    }

    @Test(arguments: [
        ("{author}/{title}/{section} {name}.{ext}", "Book/007.mp3"),
        ("{author} - {title}/{section} - {name}.{ext}", "Book/007.mp3"),
        ("{title} - {author}/{name} - {section}.{ext}", "Book/007.mp3"),
        ("{title} ({year})/{section} [{name}].{ext}", "Book/007.mp3"),
        ("{title}/{section} - {year} - {id}.{ext}", "Book/007 - k.mp3"),
        ("{series}/{title}/{section:5}", "Book/00007.mp3"),
        ("{author}/{name}.{ext}", "007.mp3"),
    ])
    func `an empty field vanishes with its separator`(template: String, expected: String) throws {
        #expect(try path(template, Sample.episode(7, "", key: "k"), of: Sample.book(author: nil)) == expected)
    }

    @Test func `the day and the year of publication are those of UTC`() throws {
        var episode = Sample.episode(1, "one")
        episode.publishedAt = Date(timeIntervalSince1970: 1_717_199_999)
        #expect(try path("{year}/{published} {name}.{ext}", episode) == "2024/2024-05-31 one.mp3")
    }

    @Test(arguments: [
        ("{autor}/{section}.{ext}", "did you mean {author}?"),
        ("{author}/{title}.{ext}", "it needs {section}, {name}, {filename} or {id}"),
        ("/{section}.{ext}", "relative to the library"),
        ("~/{section}.{ext}", "relative to the library"),
        ("../{section}.{ext}", "'.' and '..'"),
        ("{title}//{section}.{ext}", "nothing between two of its slashes"),
        ("{title}/", "nothing between two of its slashes"),
        ("", "nothing between two of its slashes"),
        ("{section", "not closed"),
        ("section}", "without its {"),
        ("{section:0}.{ext}", "from 1 to 12"),
        ("{name:3}.{ext}", "only {section} takes a width"),
        ("{ext} {name}", "at the very end"),
        ("{section}{ext}", "at the very end"),
        ("{ext}/{name}", "at the very end"),
        ("{section} {name}.mp3", "it ends in .mp3, and the extension is that of the file: write .{ext}"),
        ("{section} - x.M4B", "it ends in .M4B"),
        ("{name} {name}.{ext}", "the same field twice"),
        (String(repeating: "a/", count: 9) + "{name}", "more than 8 levels"),
        (String(repeating: ":", count: 40) + "{name}", "more than 80 bytes"),
        ("{disc?CD{disc}/{section}", "the condition {disc? is not closed by a }"),
        ("{disc?CD{disc}/}}{section}", "a } without its {"),
        ("{disk?CD{disc}/}{section}", "there is no field {disk}; did you mean {disc}?"),
        ("{disc?CD{dics}/}{section}", "did you mean {disc}?"),
        ("{disc?{part?{part}}}{section}", "{part? stands within {disc?, and conditions cannot be nested"),
        ("{disc?}{section}", "the condition {disc?} has no text"),
        ("{section:3?x}{section}", "takes no width"),
        ("{?x}{section}", "there is no field {}"),
        ("{title}/{name?{name}}", "nothing between two of its slashes (where {name} is empty)"),
        ("{title}/{series?/}/{section}", "nothing between two of its slashes"),
        ("{title}/{series?../}{section}", "'.' and '..'"),
        ("{title}/.{series?.}/{section}", "'.' and '..'"),
        ("{disc?CD{disc}/}CD{title}", "it needs {section}, {name}, {filename} or {id}"),
        ("{title}/{name?{name}.mp3}{section}{name?.mp3}", "it ends in .mp3"),
        ("{disc?{disc} {ext} }{section}", "at the very end"),
        ("{disc?{disc}}{disc}{section}", "the same field twice"),
        ("{disc?" + String(repeating: "a/", count: 8) + "}{section}", "more than 8 levels"),
        (
            ["disc", "part", "series", "year", "author", "narrator", "name"].map { "{\($0)?x}" }.joined() + "{section}",
            "conditions on more than 6 fields"
        ),
    ])
    func `a naming that cannot work is refused with the reason`(template: String, reason: String) throws {
        let failure = try #require(throws: Failure.self) { try NamingTemplate(parsing: template) }
        #expect(failure.kind == .configuration)
        #expect(failure.why.description.contains(reason), "\(failure.why)")
    }

    /// The disc, the book, and the file name that each template gives.
    @Test(
        arguments: [
            ("{title}/{disc?CD{disc}/}{section} {name}.{ext}", 2, "Book", "Book/CD2/007 Song.mp3"),
            ("{title}/{disc?CD{disc}/}{section} {name}.{ext}", nil, "Book", "Book/007 Song.mp3"),
            ("{title}/{disc?CD{disc}/}{section} {name}.{ext}", 0, "Book", "Book/007 Song.mp3"),
            ("{title}/{disc? {disc}-}{section}", 2, "Book", "Book/2-007.mp3"),
            ("{author}/{series?{series}/}{part?{part} - }{title}/{section}", nil, "Book", "Author/Book/007.mp3"),
            (
                "{author}/{series?{series}/}{part?{part} - }{title}/{section}", nil, "Dune (Dune Saga, Book 2)",
                "Author/Dune Saga/2 - Dune (Dune Saga, Book 2)/007.mp3"
            ),
            ("{series}/{part}/{section}", nil, "Rome, Vol. IV", "Rome/4/007.mp3"),
            ("{series}/{title}/{section}", nil, "Rome, Vol. IV", "Rome, Vol. IV/007.mp3"),
            ("{title} ({narrator})/{section}", nil, "Book", "Book (N： N)/007.mp3"),
            ("{title}/{filename}.{ext}", nil, "Book", "Book/Ch 7／a.mp3"),
            ("{title}/{section?Nr. {section} }{year?{year} }{name}", nil, "Book", "Book/Nr. 007 Song.mp3"),
            ("{name?{name}}{id?-{id}}{section}", nil, "Book", "Song-1007007.mp3"),
        ] as [(String, Int?, String, String)])
    func `fields and conditions are filled by what the catalog says`(
        template: String, disc: Int?, title: String, expected: String
    ) throws {
        var book = Sample.book(title)
        book.narrator = "N: N"
        var episode = Sample.episode(7, "Song", address: "http://u:secret@h/dir/Ch%207%2Fa.MP3?token=secret#secret")
        episode.season = disc
        #expect(try path(template, episode, of: book) == expected)
    }

    @Test(
        arguments: [
            (nil, "007"), ("http://h/a/b/", "b"), ("http://h", "007"), ("http://h/?f=secret.mp3", "007"),
            ("http://h/x.php?f=secret.mp3", "x.php"), ("http://h/%ff%zz.mp3", "%ff%zz"), ("http://h/..%2f..mp3", "／"),
            ("http://u:se/cret@h:80/a.mp3", "007"), ("http://h/a%20b.mp3?token=***", "a b"), ("http://***", "007"),
            ("http://h/a%00b%0a.ogg", "ab"), ("x/%E4%B8%80.mp3", "一"),
        ] as [(String?, String)])
    func `the file name at the source is text, and holds no secret`(address: String?, expected: String) throws {
        #expect(try path("{filename}.{ext}", Sample.episode(7, "", address: address)) == "\(expected).mp3")
        // As the store keeps it.
        let stored = address.map { ResourceAddress($0).withoutSecrets }
        #expect(try path("{filename}.{ext}", Sample.episode(7, "", address: stored)) == "\(expected).mp3")
    }

    @Test func `a field that is too long gives way`() throws {
        var book = Sample.book(
            String(repeating: "长", count: 80) + " (" + String(repeating: "系", count: 80) + ", Book 2)")
        book.narrator = String(repeating: "n", count: 300)
        let episode = Sample.episode(7, "x", address: "http://h/" + String(repeating: "f", count: 300))
        let template = "{narrator}/{series}/{part} {title}/{section} {filename}"
        let parts = try path(template, episode, of: book).split(separator: "/")
        #expect(parts.count == 4)
        #expect(parts.allSatisfy { $0.utf8.count <= 240 })
        #expect(parts[2].hasPrefix("2 长") && parts[3].hasPrefix("007 fff"))
    }

    @Test func `a naming as it is written equals the standard one`() throws {
        #expect(try NamingTemplate(parsing: NamingTemplate.standardText) == .standard)
    }

    @Test(arguments: [
        ("Dune (Dune Saga, Book 2)", "Dune Saga", "2"), ("Dune [Saga #3]", "Saga", "3"), ("Dune (Vol. 2)", "Dune", "2"),
        ("War and Peace, Book 01: 1805", "War and Peace", "1"), ("Rome Volume XIV", "Rome", "14"),
        ("Henry VI, Part ii", "Henry VI", "2"), ("Saga #12 - The End", "Saga", "12"), ("鬼吹灯 第二部", "鬼吹灯", "2"),
        ("斗罗大陆：第十二季", "斗罗大陆", "12"), ("三体（第二十部）", "三体", "20"), ("兽医第3卷 春", "兽医", "3"),
    ])
    func `a series and a number are read from the title`(title: String, series: String, part: String) throws {
        let found = try #require(SeriesTitle(title))
        #expect(found.name == series && found.part == part)
    }

    @Test(arguments: [
        "", "Fahrenheit 451", "The Jungle Book 2", "Catch-22", "Book 30776", "Volume 2", "#2", "1984", "第二部", "Part",
        "Murder, Part One", "第一集 开始", "回到古代当兽医", "Anne (version 3)", "Notebook, 2", "A Book, Bookish 3",
    ])
    func `other titles name no series`(title: String) {
        #expect(SeriesTitle(title) == nil)
    }

    @Test(
        arguments: [
            (nil, nil, "mp3"),
            ("http://h/a/B.M4A?token=x.ogg", "audio/mpeg", "m4a"),
            ("http://h/a/b.php?f=1.ogg", "audio/ogg; codecs=opus", "ogg"),
            ("http://h/a.flac/stream", nil, "mp3"),
            ("http://h/a.html", "text/html", "mp3"),
        ] as [(String?, String?, String)])
    func `the extension is a known one`(address: String?, mediaType: String?, expected: String) {
        var episode = Sample.episode(1, "one", address: address)
        episode.mediaType = mediaType
        #expect(AudioExtension.of(episode) == expected)
    }
}
