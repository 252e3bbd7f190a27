import BookModel
import CatalogFetcher
import Foundation
import LibraryFiles
import Logging
import Support
import Testing
import Transport

@testable import Settings

@Suite(.limitedConcurrency) struct ConfigurationTests {
    private let contract = """
        library: ~/Audiobooks
        default-source: kting
        naming: "{author}/{title}/{section} {name}.{ext}"   # empty parts vanish with their separator
        downloads: { jobs: 3, jobs-per-host: 2, order: last, limit-rate: 2M, retries: 0, connect-timeout: 1m, stall-timeout: 500ms, min-free-space: 1Gi, on-missing-file: tombstone, export: [m3u8, opf] }
        on-catalog-removal: report
        notify: { exec: "notify-send --token x", webhook: "https://hooks.example/T0/SECRET" }
        sources:
          kting:
            type: book-resource
            url: http://catalog.example/yyting/bookclient/ClientGetBookResource.action
            detail-url: http://catalog.example/yyting/bookclient/ClientGetBookDetail.action   # optional
            query: { imei: "${KTING_IMEI}", nwt: 1, q: 114, sortType: 0, token: "${KTING_TOKEN}" }
            signature: { parameter: sc, algorithm: md5, secret: "${KTING_SECRET}" }           # optional
            headers: { ClientVersion: "8.8.03", Authorization: Bearer abc }
            page-size: 50
            allow-private-addresses: true
            limit-rate: 1M
          librivox: { type: librivox, archive-url: "https://u:p@mirror.example/" }
          feeds:   { type: feed }
          archive: { type: internet-archive, formats: ["VBR MP3", "64Kbps MP3"] }
          files:   { type: directory, url: "https://h/books/", depth: 2, naming: "{disc?CD{disc}/}{section}" }
        subscriptions:
          - book: kting:30776
            title: 回到古代当兽医           # overrides what the catalog says
            latest: 20
          - { book: 7/1-3, exclude: "^x", naming: "{title}/{section}" }
          - book: https://feeds.example/a.xml
        """
    private let secrets = ["KTING_IMEI": "IMEI-1", "KTING_TOKEN": "TOKEN-2", "KTING_SECRET": "SECRET-3"]

    @Test func `the contract's example is read as it is written`() async throws {
        let configuration = try await loadConfiguration(contract, environment: secrets)
        #expect(configuration.library == "/home/me/Audiobooks")
        #expect(configuration.defaultSource == "kting")
        #expect(configuration.naming == .standard)
        #expect(
            configuration.downloads
                == DownloadSettings(
                    jobs: 3, jobsPerHost: 2, order: .last, limitRate: 2_000_000, retries: 0, connectTimeout: 60,
                    stallTimeout: 0.5, minFreeSpace: 1_073_741_824, onMissingFile: .tombstone,
                    export: [.m3u8, .opf]))
        #expect(configuration.onCatalogRemoval == .report)
        #expect(configuration.notify.exec == Secret("notify-send --token x"))

        let source = try #require(configuration.sources["kting"])
        #expect(source.kind == .bookResource && source.pageSize == 50 && source.allowsPrivateAddresses)
        #expect(source.limitRate == 1_000_000)
        #expect(source.query.map(\.name) == ["imei", "nwt", "q", "sortType", "token"])
        #expect(source.query.map(\.value.secretText) == ["IMEI-1", "1", "114", "0", "TOKEN-2"])
        #expect(source.signature == .init(parameter: "sc", secret: Secret("SECRET-3")))
        #expect(source.headers.first == .init(name: "ClientVersion", value: Secret("8.8.03")))
        try source.requireVariables()
        #expect(configuration.sources["archive"]?.formats == ["VBR MP3", "64Kbps MP3"])
        #expect(configuration.sources["files"]?.depth == 2)
        #expect(configuration.sources["files"]?.naming?.description == "{disc?CD{disc}/}{section}")
        #expect(configuration.subscriptions.map(\.naming?.description) == [nil, "{title}/{section}", nil])
        #expect(configuration.sources["librivox"]?.archiveURL?.secretText == "https://u:p@mirror.example/")
        #expect(configuration.sources.count == 5)

        #expect(configuration.subscriptions.count == 3)
        #expect(configuration.subscriptions[0].title == "回到古代当兽医")
        #expect(configuration.subscriptions[0].filter == EpisodeFilter(latest: 20))
        #expect(
            configuration.subscriptions[1].filter == EpisodeFilter(only: SectionRanges([1...3]), exclude: "^x"))
    }

    @Test func `what is shown holds no secret`() async throws {
        let configuration = try await loadConfiguration(contract, environment: secrets)
        var dumped = ""
        dump(configuration.sources.values.map { ($0.query, $0.headers, $0.signature) }, to: &dumped)
        let shown = configuration.effectiveDescription
        for text in [
            shown.yamlText, shown.document.text(), dumped, "\(configuration)", String(reflecting: configuration),
        ] {
            for secret in ["IMEI-1", "TOKEN-2", "SECRET-3", "Bearer", "--token", "T0/SECRET"] {
                #expect(!text.contains(secret))
            }
        }
        let yaml = shown.yamlText
        for line in [
            "library: /home/me/Audiobooks", "    secret: \"***\"", "q: \"114\"", "imei: \"***\"", "8.8.03",
            "exec: \"notify-send ***\"", "webhook: \"https://hooks.example/***\"", "limit-rate: 2000000",
            "stall-timeout: 0.5", "  - book: \"kting:30776\"",
        ] {
            #expect(yaml.contains(line), "\(line) is not in:\n\(yaml)")
        }
    }

    @Test func `who may come to the shelf is set, and shown without a secret`() async throws {
        let salted = String(repeating: "A", count: 22) + "$" + String(repeating: "A", count: 43)
        let text = """
            serve:
              password: "$scrypt$ln=15,r=8,p=1$\(salted)"
              token: "${SHELF_TOKEN}"
              hosts: [NAS, books.lan, "fd00::1"]
            """
        let configuration = try await loadConfiguration(
            text, environment: ["SHELF_TOKEN": "0123456789abcdef-SECRET"])
        #expect(configuration.serve.password?.logRounds == 15 && configuration.serve.asksWhoComes)
        #expect(configuration.serve.token?.secretText == "0123456789abcdef-SECRET")
        #expect(configuration.serve.hosts == ["nas", "books.lan", "fd00::1"])
        let shown = configuration.effectiveDescription
        for text in [shown.yamlText, shown.document.text(), "\(configuration)", String(reflecting: configuration)] {
            #expect(!text.contains("AAAA") && !text.contains("SECRET") && !text.contains("scrypt"))
        }
        #expect(shown.yamlText.contains("password: \"***\"") && shown.yamlText.contains("token: \"***\""))
        let none = try await loadConfiguration("serve: { password: '', token: '', hosts: [] }")
        #expect(!none.serve.asksWhoComes && none.serve == ServeSettings())
    }

    /// The book, what its stored subscription says, what the plan was asked for, and which naming it gets.
    @Test(
        arguments: [
            ("a:1", nil, nil, "{section} book"), ("a:1", "{section} stored", nil, "{section} book"),
            ("a:2", "{section} stored", nil, "{section} stored"), ("a:2", nil, nil, "{section} source"),
            ("b:1", nil, nil, "{section} all"), ("demo:1", nil, nil, "{section} all"),
            ("a:3", nil, nil, "{section} three"),
            ("a:1", "{section} stored", "{section} asked", "{section} asked"),
        ] as [(String, String?, String?, String)])
    func `a book's naming wins over its source's, and that over the one for all`(
        book: String, stored: String?, asked: String?, expected: String
    ) async throws {
        var configuration = try await loadConfiguration(
            """
            naming: "{section} all"
            default-source: a
            sources: { a: { type: feed, naming: "{section} source" }, b: { type: feed, naming: "" } }
            subscriptions: [{ book: "a:1", naming: "{section} book" }, { book: 3, naming: "{section} three" }, { book: 2 }]
            """)
        configuration.namingOverride = try asked.map { try NamingTemplate(parsing: $0) }
        let identity = try configuration.book(BookReference(parsing: book))
        let naming = try Namings(of: configuration).template(for: identity, stored: stored)
        #expect(naming.description == expected)
        #expect(try configuration.allSubscriptions(with: []).map(\.naming).contains("{section} three"))
    }

    @Test func `what is shown reads back as the same settings`() async throws {
        let configuration = try await loadConfiguration(contract, environment: secrets)
        let yaml = configuration.effectiveDescription.yamlText
        let again = try await loadConfiguration(yaml)
        #expect(again.effectiveDescription == configuration.effectiveDescription)
        let builtIn = try await loadConfiguration("")
        #expect(try await loadConfiguration(builtIn.effectiveDescription.yamlText) == builtIn)
    }

    @Test func `the JSON of what is shown spells our keys in snake case and nobody else's`() async throws {
        let configuration = try await loadConfiguration(contract, environment: secrets)
        let json = Data(configuration.effectiveDescription.document.text().utf8)
        let root = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
        let downloads = try #require(root["downloads"] as? [String: Any])
        #expect(downloads["jobs_per_host"] as? Int == 2)
        let sources = try #require(root["sources"] as? [String: [String: Any]])
        #expect((sources["kting"]?["query"] as? [String: String])?["sortType"] == "0")
    }

    @Test func `the environment wins over the file, and the command line over both`() async throws {
        let environment = [
            "BOOKSYNC_LIBRARY": "shelf", "BOOKSYNC_JOBS": "7", "BOOKSYNC_LIMIT_RATE": "1k", "BOOKSYNC_RETRIES": "",
            "BOOKSYNC_NOTIFY_WEBHOOK": "https://h/x", "BOOKSYNC_ON_CATALOG_REMOVAL": "keep",
            "BOOKSYNC_EXPORT": "rss,csv",
        ]
        var configuration = try await loadConfiguration(contract, environment: environment.merging(secrets) { $1 })
        #expect(configuration.library == "/here/shelf")
        #expect(configuration.downloads.jobs == 7 && configuration.downloads.limitRate == 1000)
        #expect(configuration.downloads.retries == 0 && configuration.onCatalogRemoval == .keep)
        #expect(configuration.notify.webhook == Secret("https://h/x"))
        #expect(configuration.downloads.export == [.rss, .csv])

        configuration = try await loadConfiguration(
            contract, environment: environment,
            overrides: .init(library: "../other/", jobs: 1, limitRate: 5, order: .listed))
        #expect(configuration.library == "/here/../other")
        #expect(configuration.downloads.jobs == 1 && configuration.downloads.limitRate == 5)
        #expect(configuration.downloads.order == .listed)
    }

    @Test func `a variable that is not set fails its source when it is used, and other settings at once`() async throws
    {
        let configuration = try await loadConfiguration(contract, environment: ["KTING_IMEI": "1"])
        let source = try #require(configuration.sources["kting"])
        let failure = try #require(throws: Failure.self) { try source.requireVariables() }
        #expect(failure.kind == .configuration)
        #expect(failure.why.description.hasSuffix("config.yaml, line 12: the environment has no variable KTING_TOKEN"))
        #expect(source.unsetVariables.map(\.name) == ["KTING_TOKEN", "KTING_SECRET"])
        #expect(
            await configurationFailure("\nlibrary: ${SHELF}/x\n")
                == "config.yaml, line 2: a value is missing: the environment has no variable SHELF;"
                + " set SHELF, or write the value in its place")
    }

    @Test(arguments: [
        ("${A}", "1"), ("x${A}${B}y", "x1 2y"), ("$${A}", "${A}"), ("$A ${} ${1A} ${A", "$A ${} ${1A} ${A"), ("$", "$"),
    ])
    func `variables are put in their place`(text: String, expected: String) {
        let (value, unset) = VariableExpansion.expand(text, environment: ["A": "1", "B": " 2"])
        #expect(value == expected && unset.isEmpty)
    }

    @Test(
        arguments: [
            ("", nil), ("sources:", nil), ("sources: { a: { type: feed } }", "a"),
            ("sources: { a: { type: feed }, b: { type: feed } }", nil),
            ("{default-source: b, sources: { a: { type: feed }, b: { type: feed } }}", "b"),
            ("{default-source: demo, sources: { a: { type: feed } }}", "demo"),
        ] as [(String, String?)])
    func `the default source is the one named, or the only one`(text: String, expected: String?) async throws {
        #expect(try await loadConfiguration(text).defaultSource == expected)
    }

    @Test(
        arguments: [("{}", 12, 12), ("{}", 2, 4), ("downloads: { jobs-per-host: 3 }", 12, 3)] as [(String, Int, Int)])
    func `as many as are asked for may be on one server, unless somebody said how many it bears`(
        text: String, jobs: Int, jobsPerHost: Int
    ) async throws {
        let configuration = try await loadConfiguration(text, overrides: .init(jobs: jobs))
        #expect(configuration.downloads.jobs == jobs)
        #expect(configuration.downloads.jobsPerHost == jobsPerHost)
    }

    @Test
    func
        `the headers of a source and a subscription go with requests for its books, the secret ones to its own servers`()
        async throws
    {
        let configuration = try await loadConfiguration(
            """
            sources:
              feeds: { type: feed, https-downgrade: refuse, user-agent: "Source/1", headers: { X-Key: KEY, Referer: "https://s/" } }
            subscriptions:
              - { book: "https://f.example/a.xml", user-agent: "${AGENT}", headers: { X-Key: OWN } }
              - { book: "https://f.example/b.xml" }
            """,
            environment: ["AGENT": "Mozilla/5.0"])
        func access(_ path: String) -> SourceAccess {
            configuration.access(of: configuration.book(at: ResourceAddress("https://f.example/\(path)")))
        }
        #expect(access("a.xml").headers.map(\.value) == ["Mozilla/5.0", "Source/1", "https://s/"])
        #expect(access("a.xml").credentials.headers == ["X-Key": Secret("OWN")])
        #expect(access("b.xml").headers.map(\.name) == ["User-Agent", "Referer"])
        #expect(access("b.xml").credentials.headers == ["X-Key": Secret("KEY")])
        #expect(access("b.xml").downgrade == .refuse)
        #expect(!configuration.effectiveDescription.yamlText.contains("OWN"))
        let secret = "sources: { f: { type: feed, headers: { Referer: \"https://s/?key=HIDDEN-KEY-1\" } } }"
        #expect(try await !loadConfiguration(secret).effectiveDescription.yamlText.contains("HIDDEN"))
        let wrong = "sources: { f: { type: feed, https-downgrade: perhaps } }"
        #expect(await configurationFailure(wrong)?.contains("without-credentials, allow, refuse") == true)
        let unset = "subscriptions: [{ book: \"https://f/a\", user-agent: \"${NONE}\" }]"
        #expect(await configurationFailure(unset)?.contains("NONE") == true)
    }

    private func send(
        _ configuration: Configuration, _ body: (HTTPTransport) async throws -> Void
    ) async throws {
        try await withHTTPTransport(
            options: configuration.transportOptions, logger: .init(label: "test") { _ in SwiftLogNoOpLogHandler() },
            body)
    }

    @Test(arguments: SourceKind.allCases)
    func `the headers of a subscription count more than those of its source, whatever the catalog is`(kind: SourceKind)
        async throws
    {
        try await withServer(.always(.notFound)) { server in
            let configuration = try await loadConfiguration(
                """
                sources:
                  own:
                    type: \(kind.rawValue)
                    url: "\(server.url("/{id}"))"
                    user-agent: Source/1
                    headers: { X-Key: KEY }
                subscriptions:
                  - { book: "own:1", user-agent: Mine/2, headers: { X-Key: OWN } }
                """)
            try await send(configuration) { transport in
                for id in ["1", "2"] {
                    let book = BookIdentity(source: "own", id: id)
                    let source = try configuration.catalogSource(for: book, transport: transport)
                    await #expect(throws: Failure.self) { _ = try await source.list(book) { _ in } }
                }
            }
            let asked = server.record.requests.map { [$0.header("User-Agent"), $0.header("X-Key")] }
            #expect(asked.first == ["Mine/2", "OWN"] && asked.last == ["Source/1", "KEY"], "\(asked)")
        }
    }

    @Test func `an address that is not known yet is asked with the headers of the source for feeds`() async throws {
        try await withServer(.always(.text("there"))) { server in
            let configuration = try await loadConfiguration(
                "sources: { shows: { type: feed, user-agent: Mozilla/5.0, headers: { X-Key: KEY } } }")
            let address = server.address("/feed.xml")
            try await send(configuration) { transport in
                let transport = transport.using(configuration.access(at: address))
                let request = HTTPRequest(.get, address)
                let response = try await transport.send(request)
                _ = try await response.collect(upTo: 100)
            }
            #expect(server.record.requests.map { $0.header("User-Agent") } == ["Mozilla/5.0"])
            #expect(server.record.requests.map { $0.header("X-Key") } == ["KEY"])
        }
    }

    @Test func `on-catalog-change is that of the subscription, else of its source, else of all`() async throws {
        let configuration = try await loadConfiguration(
            """
            on-catalog-change: keep
            sources: { feeds: { type: feed, on-catalog-change: replace }, files: { type: directory } }
            subscriptions: [{ book: "feeds:https://f.example/a.xml", on-catalog-change: keep }]
            """)
        func rule(_ source: String, _ path: String) -> CatalogChangeRule {
            configuration.catalogChangeRule(of: BookIdentity(source: source, id: "https://f.example/\(path)"))
        }
        #expect(rule("feeds", "a.xml") == .keep && rule("feeds", "b.xml") == .replace && rule("files", "c/") == .keep)
        #expect(configuration.effectiveDescription.yamlText.contains("on-catalog-change: keep"))
        #expect(Configuration.builtIn.onCatalogChange == .replace)
    }
}
