import BookModel
import Foundation
import Support
import Testing

@testable import Settings

@Suite(.limitedConcurrency) struct ConfigurationErrorTests {
    @Test(arguments: [
        ("libary: x", "config.yaml, line 1: unknown key 'libary'", "did you mean 'library'?"),
        ("downloads:\n  jbos: 3", "line 2: unknown key 'jbos': 'downloads' knows no such key", "did you mean 'jobs'?"),
        ("\n\nzebra: 1", "line 3: unknown key 'zebra'", "known here: sources, subscriptions, libraries, library"),
        ("downloads: { jobs: 0 }", "line 1: 'downloads.jobs'", "expected a whole number from 1 to 64, found '0'"),
        ("downloads:\n  jobs: many", "line 2: 'downloads.jobs'", "found 'many'"),
        ("downloads:\n  jobs:", "line 2: 'downloads.jobs'", "found nothing"),
        ("downloads:\n  jobs: [1]", "line 2: 'jobs'", "expected one value"),
        ("downloads: 4", "line 1: 'downloads'", "expected keys with values below it"),
        ("downloads: { stall-timeout: 3 parsecs }", "'downloads.stall-timeout'", "a time such as 10s"),
        ("downloads: { connect-timeout: 0 }", "'downloads.connect-timeout'", "found '0'"),
        ("downloads: { limit-rate: -2M }", "'downloads.limit-rate'", "found '-2M'"),
        ("downloads: { order: lifo }", "'downloads.order'", "one of first, last, listed"),
        ("downloads: { export: [m3u8, tarot] }", "'downloads.export'", "a list of any of m3u8, opf, metadata, rss"),
        ("downloads: { export: [opf, opf] }", "'downloads.export'", "found 'opf, opf'"),
        ("downloads:\n  export:\n    - { opf: 1 }", "line 3: 'export'", "expected words"),
        ("downloads: { on-missing-file: delete }", "'downloads.on-missing-file'", "one of fetch, tombstone"),
        ("on-catalog-removal: delete", "'on-catalog-removal'", "one of keep, report"),
        ("on-catalog-change: ask", "'on-catalog-change'", "one of replace, keep"),
        ("sources: { a: { type: feed, on-catalog-change: x } }", "'on-catalog-change'", "one of replace, keep"),
        (
            "subscriptions: [{ book: 'http://h/a', on-catalog-change: x }]", "'on-catalog-change'",
            "one of replace, keep"
        ),
        ("find: { sources: [librivox, spotify] }", "'find.sources'", "a list of any of librivox, internet-archive"),
        ("find: { fyyd-url: 'https://api.fyyd.de/0.2?key=1' }", "'find.fyyd-url'", "without user, query"),
        (
            "sources: { a: { type: book-resource, url: 'http://h/', search-url: 'http://h/s' } }", "'search-url'",
            "an address with {query}"
        ),
        ("sources: { a: { type: feed, search-url: 'http://h/{query}' } }", "'search-url'", "of type feed"),
        (
            "naming: \"{titel}/{section}\"", "line 1: the naming '{titel}/{section}' cannot be used",
            "did you mean {title}?"
        ),
        ("\nnaming: '{name}.mp3'", "line 2: the naming '{name}.mp3' cannot be used", "write .{ext}"),
        ("library: ''", "line 1: 'library'", "the path of a folder"),
        ("notify: { webhook: 'ftp://user:pass@h/' }", "'notify.webhook'", "expected an http or https address"),
        ("serve:\n  password: Gr8SECRET", "line 2: 'serve.password'", "'booksync serve --set-password' makes it"),
        ("serve: { token: shortSECRET }", "'serve.token'", "expected 16 visible ASCII characters or more"),
        ("serve: { hosts: [nas, 'books.lan:80'] }", "'serve.hosts'", "without ports"),
        ("- a", "'the configuration'", "expected keys"),
        ("sources:\n  a:\n    typ: feed", "line 2: 'a'", "expected a 'type'"),
        ("sources: { a: { type: rss } }", "'type'", "one of book-resource, feed"),
        ("sources: { a: { type: direktory } }", "'type'", "did you mean directory?"),
        ("sources: { a: { type: feed, urll: x } }", "unknown key 'urll': 'sources' knows", "did you mean 'url'?"),
        ("sources: { a: { type: book-resource } }", "line 1: 'a'", "a 'url'"),
        (
            "sources: { a: { type: audiobookshelf, bearer: t } }", "line 1: 'a'",
            "a 'url' for a source of type audiobookshelf"
        ),
        ("sources: { 'a:b': { type: feed } }", "'a:b'", "letters, digits"),
        ("sources: { a: { type: feed, url: file:///etc } }", "'url'", "an http or https address"),
        ("sources: { a: { type: feed, page-size: 5000 } }", "'page-size'", "from 1 to 1000, found '5000'"),
        ("sources: { a: { type: feed, limit-rate: fast } }", "'limit-rate'", "bytes a second"),
        ("sources: { a: { type: feed, naming: '{title}.mp3' } }", "line 1: the naming '{title}.mp3'", "write .{ext}"),
        ("sources: { a: { type: directory, depth: 9 } }", "'depth'", "from 1 to 8, found '9'"),
        ("sources: { a: { type: librivox, archive-url: x } }", "'archive-url'", "an http or https address"),
        ("sources: { a: { type: feed, allow-private-addresses: maybe } }", "'allow-private", "true or false"),
        ("sources: { a: { type: feed, proxy: 'ftp://u:SECRET@p' } }", "'proxy'", "'none' or a proxy such as"),
        ("sources: { a: { type: feed, query: [x] } }", "'query'", "expected keys"),
        ("sources: { a: { type: feed, query: { x: [1] } } }", "'x'", "expected one value"),
        ("sources: { a: { type: feed, headers: { 'a b': c } } }", "'headers'", "a header's name"),
        ("sources: { a: { type: feed, headers: { X: \"a\\r\\nY: b\" } } }", "'X'", "a value on one line"),
        ("sources: { a: { type: feed, formats: MP3 } }", "'formats'", "a list"),
        ("sources: { a: { type: feed, signature: { parameter: sc } } }", "'signature'", "a 'secret'"),
        ("sources: { a: { type: feed, signature: { secret: s, algorithm: sha1 } } }", "'algorithm'", "expected md5"),
        (
            "sources: { a: { type: feed, depth: 2 } }", "line 1: 'depth' is not a setting of a source of type feed",
            "directory"
        ),
        ("sources: { a: { type: librivox, page-size: 5 } }", "'page-size' is not a setting", "type book-resource"),
        (
            "sources: { a: { type: directory, formats: [MP3] } }", "'formats' is not",
            "type internet-archive and librivox"
        ),
        ("sources:\n  a:\n    type: feed\n    bearer: SECRET", "line 4: 'bearer' is for a server", "set 'url'"),
        ("sources: { a: { type: librivox, password: SECRET } }", "'password'", "a 'user' beside it"),
        (
            "sources: { a: { type: librivox, user: SECRET, bearer: SECRET } }", "'user'",
            "either 'user' and 'password' or"
        ),
        ("sources: { a: { type: librivox, user: 'a:b' } }", "'user'", "without a colon"),
        ("sources: { a: { type: librivox, bearer: \"SEC RET\" } }", "'bearer'", "without spaces"),
        ("sources: { a: { type: librivox, user: \"a\\nb\" } }", "'user'", "on one line"),
        ("sources: { a: { type: librivox, bearer: x, bearer-file: y } }", "'bearer' is set twice", "keep one"),
        ("sources: { a: { type: feed, query: { t: x, t-file: y } } }", "'t' is set twice", "by 't-file'"),
        ("notify:\n  webhook: http://h/\n  webhook-file: x", "line 3: 'webhook' is set twice", "keep one"),
        ("notify: { webhok-file: x }", "unknown key 'webhok-file'", "did you mean 'webhook-file'?"),
        ("notify:\n  webhook-file: nowhere", "line 2: the file that 'webhook-file' names", "nowhere: No such file"),
        ("ca-file: nowhere.pem", "line 1: the ca-file cannot be used", "nowhere.pem: No such file"),
        ("netrc: nowhere", "line 1: the netrc file cannot be used", "nowhere: No such file"),
        ("subscriptions: { book: 1 }", "'subscriptions'", "a list"),
        ("subscriptions:\n  - title: x", "line 2: 'subscriptions'", "a 'book'"),
        ("subscriptions:\n  - book: nope:1", "line 2: the subscription to 'nope:1'", "there is no source 'nope'"),
        ("sources: { kting: { type: feed } }\nsubscriptions:\n  - book: ktng:1", "line 3", "did you mean 'kting'?"),
        ("subscriptions:\n  - book: archive:collection:x\n    language: klingonish", "line 3", "a language such as zh"),
        ("subscriptions:\n  - book: archive:collection:x\n    min-hours: 0", "line 3", "hours such as 2"),
        (
            "subscriptions:\n  - book: archive:search:a/b\n  - book: internet-archive:search:a/b", "line 3",
            "two subscriptions"
        ),
        ("subscriptions:\n  - book: 1\n    only: 5-2", "line 3: '5-2'", "ends before it begins"),
        ("subscriptions:\n  - book: 1\n    match: \"(\"", "line 3: 'match'", "a regular expression"),
        ("subscriptions:\n  - book: 1\n    latest: 0", "line 3: 'latest'", "from 1 on"),
        ("subscriptions:\n  - book: 1\n    since: lately", "line 3: 'lately' does not say since when", "30d"),
        ("subscriptions:\n  - book: 1\n    naming: '{disk?x}{name}'", "line 3: the naming", "did you mean {disc}?"),
        ("subscriptions:\n  - book: 1\n    order: lifo", "line 3: 'order'", "one of first, last, listed"),
        ("subscriptions:\n  - book: 1\n    max-episodes: 0", "line 3: 'max-episodes'", "from 1 on"),
        ("subscriptions:\n  - book: 1\n    max-bytes: 0", "line 3: 'max-bytes'", "bytes such as"),
        ("subscriptions:\n  - book: demo:1\n  - book: demo:1", "line 3: there are two subscriptions", "keep one"),
        ("subscriptions:\n  - book: 1", "line 2: the source of the book '1' is unknown", "there is no source"),
        ("sources: {a: {type: feed}, b: {type: feed}}\nsubscriptions:\n  - book: 1", "line 3", "write SOURCE:1"),
        ("\ndefault-source: none", "line 2: 'default-source' names a source that is not configured", "'none'"),
    ])
    func `a setting that cannot be is refused with its line and what was expected`(
        text: String, place: String, expected: String
    ) async throws {
        let failure = try #require(await configurationFailure(text))
        #expect(failure.contains(place) && failure.contains(expected), "\(failure)")
        #expect(!failure.contains("pass@") && !failure.contains("SEC"))
    }

    @Test(arguments: [
        ("a: b: c", 1, "a ':' stands where no key can be"),
        ("library: x\n\tjobs: 1", 2, "tab"),
        ("library: x\n naming: y", 2, "a ':' stands where no key can be"),
        ("sources:\n  a: { type: feed", 3, "a '{' is not closed"),
        ("downloads:\n    jobs: 1\n  order: last", 3, "indentation"),
        ("library: \"x", 1, "a quotation mark is not closed"),
        ("library: @x", 1, "'@'"),
        ("library: x\n---\nlibrary: y", 2, "more than one document"),
        ("library: *x", 1, "begins with '*'"),
        ("library: x\u{1}", 1, "a character that YAML does not allow"),
        ("library: x\nnaming: y\nlibrary: z", 1, "'library' is set twice"),
        ("downloads:\n  jobs: 1\n  \"jobs\": 2", 2, "'jobs' is set twice"),
        ("[a]: b", 1, "a key is a list or a map"),
        ("a: &x 1\nb: *x", 2, "the alias '*x'"),
    ])
    func `text that is no YAML is refused with its line`(text: String, line: Int, expected: String) async throws {
        let failure = try #require(await configurationFailure(text))
        #expect(failure.hasPrefix("config.yaml, line \(line):") && failure.contains(expected), "\(failure)")
    }

    @Test(arguments: [("[", 20), ("[", 900), ("[", 500_000), ("a: {", 200_000), ("- ", 400_000), ("? ", 400_000)])
    func `depth is refused before it costs anything`(opening: String, count: Int) async throws {
        let closing = opening == "[" && count < 1000 ? String(repeating: "]", count: count) : ""
        let failure = try #require(await configurationFailure(String(repeating: opening, count: count) + closing))
        #expect(failure.contains("nested") && failure.utf8.count < 200, "\(failure)")
    }

    @Test func `aliases cannot make a small file large`() async throws {
        var bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
        for level in 1...30 {
            let list = Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ")
            bomb += "a\(level): &a\(level) [\(list)]\n"
        }
        bomb += "? *a30\n: x\n"
        #expect(await configurationFailure(bomb)?.contains("aliases are not read") == true)
    }

    @Test func `ampersands and stars that are no aliases are left alone`() async throws {
        let text = """
            notify: { exec: "a && b *.mp3", webhook: "https://h/?a=1&b=2" }   # *b &c
            subscriptions: [{ book: "demo:1", match: ".*b" }]
            """
        #expect(try await loadConfiguration(text).notify.webhook == Secret("https://h/?a=1&b=2"))
    }

    @Test func `a wrong value in the environment names its variable`() async throws {
        #expect(
            await configurationFailure("", environment: ["BOOKSYNC_JOBS": "0"])
                == "the environment's BOOKSYNC_JOBS has a value that does not fit: expected a whole number from 1 to 64,"
                + " found '0'; correct or unset BOOKSYNC_JOBS")
        let failure = await configurationFailure("", environment: ["BOOKSYNC_DEFAULT_SOURCE": "x"])
        #expect(failure?.hasPrefix("$BOOKSYNC_DEFAULT_SOURCE: 'default-source' names a source") == true)
        let naming = await configurationFailure("", environment: ["BOOKSYNC_NAMING": "{x}"])
        #expect(naming?.contains("BOOKSYNC_NAMING") == true)
        let hook = await configurationFailure("", environment: ["BOOKSYNC_NOTIFY_WEBHOOK": "token"])
        #expect(hook?.contains("token") == false)
    }
}
