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
        ("{author}/{title}.{ext}", "it needs {section}, {name} or {id}"),
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
    ])
    func `a naming that cannot work is refused with the reason`(template: String, reason: String) throws {
        let failure = try #require(throws: Failure.self) { try NamingTemplate(parsing: template) }
        #expect(failure.kind == .configuration)
        #expect(failure.why.description.contains(reason), "\(failure.why)")
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
