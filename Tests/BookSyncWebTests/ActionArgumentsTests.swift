import BookModel
import Foundation
import Testing

@testable import BookSyncWeb

@Suite struct ActionArgumentsTests {
    private func failure(_ body: () throws -> Void) -> Failure? {
        do {
            try body()
            return nil
        } catch {
            return error as? Failure
        }
    }

    @Test func `JSON says what an action is about`() throws {
        let text = #"""
            {"refs": ["demo:1/3"], "episodes": [{"source": "s", "book_id": "b", "id": "e"}], "force": true, "latest": 2}
            """#
        let arguments = try ActionArguments(json: Array(text.utf8))
        try arguments.require(.fetch)
        #expect(arguments.refs == ["demo:1/3"] && arguments.force && arguments.latest == 2)
        #expect(arguments.episodes == [ActionArguments.Name(source: "s", book: "b", episode: "e")])
        #expect(try ActionArguments(json: []) == ActionArguments())
        let position = try ActionArguments(
            json: Array(#"{"position":{"source":"s","book_id":"b","id":"e","seconds":1.5,"finished":true}}"#.utf8))
        try position.require(.position)
        #expect(position.position?.seconds == 1.5 && position.position?.isFinished == true)
        #expect(position.position?.duration == nil)
    }

    static let wrong: [(ShelfAction, String, why: String)] = [
        (.fetch, "[]", "of another type"), (.fetch, "{", "no JSON"), (.fetch, "\u{0}", "no JSON"),
        (.fetch, #"{"refs": "a"}"#, "'refs' is of another type"), (.fetch, #"{"refs": [1]}"#, "'refs"),
        (.fetch, #"{"refs": null}"#, "'refs' is of another type"), (.fetch, "{}", "neither"),
        (.fetch, #"{"refs": []}"#, "neither"), (.fetch, #"{"refs": ["a"], "all": true}"#, "'all' is not an argument"),
        (.fetch, #"{"refs": ["a"], "latest": 0}"#, "from 1 on"), (.fetch, #"{"refs": ["a"], "latest": 1.5}"#, "latest"),
        (.fetch, #"{"refs": ["a"], "secret": 1}"#, "'secret' is none of"),
        (.fetch, #"{"episodes": [{"source": "s", "book_id": "b"}]}"#, "there is no 'id'"),
        (.fetch, #"{"episodes": [{"source": "s", "book_id": "b", "id": "e", "x": 1}]}"#, "'x' is none of"),
        (.pause, "{}", "neither"), (.remove, #"{"all": true, "refs": ["a"]}"#, "'all' and about some"),
        (
            .pause, #"{"all": true, "episodes": [{"source": "s", "book_id": "b", "id": "e"}]}"#,
            "'all' and about some"
        ),
        (.pause, #"{"refs": ["a"], "force": true}"#, "is not an argument of pause"),
        (.subscribe, #"{"refs": []}"#, "names no book"), (.subscribe, #"{"refs": ["a"], "title": ""}"#, "empty"),
        (.position, "{}", "no 'position'"),
        (.position, #"{"position":{"source":"s","book_id":"b","id":"e","seconds":-1}}"#, "'seconds'"),
        (.position, #"{"position":{"source":"s","book_id":"b","id":"e","seconds":1e10}}"#, "'seconds'"),
        (.position, #"{"position":{"source":"s","book_id":"b","id":"e","seconds":1,"duration":0}}"#, "'duration'"),
        (.mirror, #"{"refs": ["a"]}"#, "is not an argument of mirror"),
    ]

    @Test(arguments: wrong)
    func `what is wrong is refused with a sentence`(_ action: ShelfAction, _ json: String, why: String) {
        let failure = failure { try ActionArguments(json: Array(json.utf8)).require(action) }
        #expect(failure?.kind == .usage)
        #expect(failure?.why.description.contains(why) == true, "\(failure?.why ?? "it was taken")")
    }

    @Test func `a form says the same`() throws {
        let body =
            "token=abc&return=%2Fqueue&ref=https%3A%2F%2Fexample.org%2Fa+b&ref=+30776%2F12+&latest=&force=on&title="
        let form = try #require(FormFields(Array(body.utf8)))
        let arguments = try ActionArguments(form: form)
        try arguments.require(.fetch)
        #expect(arguments.refs == ["https://example.org/a b", "30776/12"] && arguments.force)
        #expect(form["return"] == "/queue")

        let position = try ActionArguments(
            form: try #require(FormFields(Array("episode=s/b/e&seconds=3.5&duration=9&finished=0".utf8))))
        try position.require(.position)
        #expect(
            position.position
                == ActionArguments.Position(
                    name: .init(source: "s", book: "b", episode: "e"), seconds: 3.5, duration: 9, isFinished: false))
        #expect(FormFields(Array("a=%ff".utf8)) == nil)
        for wrong in ["episode=a/b", "episode=a/b/", "latest=x&ref=a", "seconds=1", "seconds=x&episode=a/b/c"] {
            let form = try #require(FormFields(Array(wrong.utf8)))
            #expect(failure { _ = try ActionArguments(form: form) }?.kind == .usage, "\(wrong)")
        }
    }

    @Test(arguments: [
        ("/books/a/1?page=2", "", "/books/a/1?page=2"), ("/shelf/queue", "/shelf", "/shelf/queue"),
        ("//evil.example", "", "/"), ("/\\evil.example", "", "/"), ("https://evil.example/", "", "/"),
        ("/queue", "/shelf", "/shelf/"), ("/a\r\nSet-Cookie: x", "", "/"), ("", "", "/"),
    ])
    func `a form leads nowhere but to a page of ours`(asked: String, basePath: String, place: String) {
        let view = ClientView(authority: "127.0.0.1:8731", basePath: basePath, publicURL: nil)
        #expect(view.returnURL(asked) == place)
    }

    @Test func `a server that is started anew does not mirror before its time`() {
        let now = Date(timeIntervalSince1970: 100_000)
        func wait(_ last: Double?) -> Double {
            MirrorTimer.wait(since: last.map(Date.init(timeIntervalSince1970:)), interval: 3600, now: now)
        }
        #expect(wait(nil) == 0)
        #expect(wait(99_000) == 2600)
        #expect(wait(90_000) == 0)
        #expect(wait(100_500) == 0, "a clock that was wrong")
    }
}
