import BookModel
import CatalogFetcher
import Foundation
import Support
import Testing
import Transport

@testable import Settings

/// Secrets in files of their own, where settings came from, and what is not well with a configuration that works.
@Suite(.limitedConcurrency) struct ConfigurationOriginTests {
    private func read(
        _ folder: String, _ text: String, environment: [String: String] = [:],
        overrides: ConfigurationOverrides = .init()
    ) throws -> LoadedConfiguration {
        try write(text, to: folder + "/config.yaml")
        return try Configuration.read(
            explicitPath: folder + "/config.yaml", environment: environment, homeFolder: folder + "/home",
            currentFolder: "/here", overrides: overrides)
    }

    private func setMode(_ mode: Int, of path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test func `a secret comes from its file, without the line break at its end`() async throws {
        try await withTemporaryPath { folder in
            for name in ["token", "sub/key", "home/pw", "hook", "proxy"] {
                try write("\(name)-SECRET\r\n\n", to: "\(folder)/\(name)")
            }
            try write("http://u:p@proxy.example:3128\n", to: folder + "/proxy")
            try write("https://hooks.example/T0\n", to: folder + "/hook")
            let text = """
                notify: { webhook-file: hook }
                sources:
                  a:
                    type: book-resource
                    url: http://catalog.example/
                    query: { token-file: token, nwt: 1 }
                    headers: { X-Key-file: "${WHERE}/key" }
                    signature: { secret-file: token }
                    user: me
                    password-file: ~/pw
                    proxy-file: \(folder)/proxy
                """
            let loaded = try read(folder, text, environment: ["WHERE": "sub"])
            let source = try #require(loaded.configuration.sources["a"])
            try source.requireVariables()
            #expect(source.query.map { "\($0.name)=\($0.value.secretText)" } == ["token=token-SECRET", "nwt=1"])
            #expect(source.headers == [.init(name: "X-Key", value: Secret("sub/key-SECRET"))])
            #expect(source.signature?.secret == Secret("token-SECRET"))
            #expect(source.authorization == .basic(user: Secret("me"), password: Secret("home/pw-SECRET")))
            guard case .through(let proxy) = source.proxy else { throw SetUpFailure() }
            #expect("\(proxy)" == "http://***@proxy.example:3128")
            #expect(loaded.configuration.notify.webhook == Secret("https://hooks.example/T0"))
            let shown = loaded.yamlText() + loaded.document.text()
            for secret in ["SECRET", "u:p", "T0"] { #expect(!shown.contains(secret)) }
            #expect(shown.contains("token: \"***\"  # \(folder)/config.yaml, line 6, read from \(folder)/token"))

            let other = try read(
                folder, "", environment: ["BOOKSYNC_NOTIFY_WEBHOOK_FILE": folder + "/hook"])
            #expect(other.configuration.notify.webhook == Secret("https://hooks.example/T0"))
            #expect(
                other.origins["notify.webhook"]
                    == .environment("BOOKSYNC_NOTIFY_WEBHOOK_FILE", contentsOf: folder + "/hook"))
        }
    }

    private struct SetUpFailure: Error {}

    @Test func `a file that cannot be read fails its source when that is used, and names file, line and key`()
        async throws
    {
        try await withTemporaryPath { folder in
            try write("\n", to: folder + "/empty")
            try write("h TRUE", to: folder + "/cookies.txt")
            let text = """
                sources:
                  a:
                    type: librivox
                    bearer-file: nowhere
                    cookies: cookies.txt
                    ca-file: empty
                    query: { key-file: empty }
                """
            let source = try #require(try read(folder, text).configuration.sources["a"])
            let failure = try #require(throws: Failure.self) { try source.requireVariables() }
            #expect(failure.kind == .configuration)
            let told = source.shortcomings.map { $0.description.replacing(folder, with: "F") }
            #expect(
                told.map { String($0.prefix { $0 != ";" }) } == [
                    "F/config.yaml, line 5: the file that 'cookies' names cannot be used: F/cookies.txt, line 1, is no "
                        + "cookie in Netscape's format: it has not the seven fields, with tabs between them, of a cookie",
                    "F/config.yaml, line 6: the file that 'ca-file' names cannot be used: F/empty: it holds no "
                        + "certificate in PEM format that can be read",
                    "F/config.yaml, line 7: the file that 'key-file' names cannot be used: F/empty is empty",
                    "F/config.yaml, line 4: the file that 'bearer-file' names cannot be used: F/nowhere: No such file or "
                        + "directory",
                ], "\(told)")
        }
    }

    @Test func `every value says where it came from`() async throws {
        try await withTemporaryPath { folder in
            let text = """
                library: shelf
                downloads:
                  jobs: 2
                  retries: 1
                sources:
                  my.feeds: { type: feed, url: "http://h/{id}" }
                subscriptions:
                  - book: "1"
                    since: 30d
                """
            let loaded = try read(
                folder, text, environment: ["BOOKSYNC_RETRIES": "7"],
                overrides: ConfigurationOverrides(library: "/x", order: .last))
            let file = folder + "/config.yaml"
            for line in [
                "library: /x  # --library", "  jobs: 2  # \(file), line 3", "  retries: 7  # $BOOKSYNC_RETRIES",
                "  order: last  # --order", "  jobs-per-host: 4  # default", "  export:  # default",
                "    allow-private-addresses: false  # default", "    url: \"http://h/{id}\"  # \(file), line 6",
                "  - book: \"1\"  # \(file), line 8", "    since: \"30d\"  # \(file), line 9",
            ] {
                #expect(loaded.yamlText().split(separator: "\n").contains(line[...]), "\(line)\n\(loaded.yamlText())")
            }
            let again = try read(folder, loaded.yamlText())
            #expect(again.configuration.effectiveDescription == loaded.configuration.effectiveDescription)
            let json = Data(loaded.document.text().utf8)
            let root = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
            let origins = try #require(root["origins"] as? [String: [String: Any]])
            #expect(origins["library"]?["flag"] as? String == "--library")
            #expect(origins["downloads.jobs_per_host"]?["from"] as? String == "default")
            #expect(origins["downloads.retries"]?["variable"] as? String == "BOOKSYNC_RETRIES")
            #expect(origins["subscriptions[0].since"]?["line"] as? Int == 9)
            #expect(origins["sources.my.feeds.url"]?["file"] as? String == file)
        }
    }

    @Test func `secrets that everybody can read are warned of`() async throws {
        try await withTemporaryPath { folder in
            try write("SECRET", to: folder + "/token")
            try write("machine h login me password SECRET", to: folder + "/home/.netrc")
            try write("h\tFALSE\t/\tFALSE\t1\ta\tSECRET", to: folder + "/cookies.txt")
            for name in ["token", "home/.netrc", "cookies.txt"] { try setMode(0o644, of: "\(folder)/\(name)") }
            let text = """
                sources:
                  a:
                    type: book-resource
                    url: http://catalog.example/
                    query: { imei: LITERAL, token-file: token, nwt: 1, other: "${SET}" }
                    user: me
                    password: LITERAL
                    cookies: cookies.txt
                """
            try write(text, to: folder + "/config.yaml")
            try setMode(0o644, of: folder + "/config.yaml")
            let found = try ConfigurationCheck {
                try Configuration.read(
                    explicitPath: folder + "/config.yaml", environment: ["SET": "x"], homeFolder: folder + "/home",
                    currentFolder: "/")
            }
            #expect(found.isGood && found.sources == 1)
            let told = found.warnings.map { $0.message.description.replacing(folder, with: "F") }
            #expect(
                told == [
                    "everybody on this machine can read F/config.yaml: it holds secrets (sources.a.query.imei in line 5, "
                        + "sources.a.password in line 7); chmod 600 it, or take them from the environment or from files of "
                        + "their own",
                    "everybody on this machine can read F/cookies.txt: it holds secrets; chmod 600 it",
                    "everybody on this machine can read F/home/.netrc: it holds secrets; chmod 600 it",
                    "everybody on this machine can read F/token: it holds secrets; chmod 600 it",
                    "the source 'a' sends no cookie: F/cookies.txt has none for its server that has not expired; export it "
                        + "anew",
                ], "\(told)")
            for name in ["token", "home/.netrc", "cookies.txt", "config.yaml"] {
                try setMode(0o600, of: "\(folder)/\(name)")
            }
            let closed = try ConfigurationCheck {
                try Configuration.read(
                    explicitPath: folder + "/config.yaml", environment: ["SET": "x"], homeFolder: folder + "/home",
                    currentFolder: "/")
            }
            #expect(closed.warnings.map(\.what.description) == ["the source 'a' sends no cookie"])
        }
    }

    @Test func `an Audiobookshelf that is asked nothing is warned of`() async throws {
        try await withTemporaryPath { (folder: String) in
            func warnings(_ library: String) throws -> [String] {
                try ConfigurationCheck {
                    try read(folder, "notify: { audiobookshelf: { url: http://nas, library: \(library) } }")
                }.warnings.map(\.message.description)
            }
            let (without, with) = (try warnings("\"\""), try warnings("lib_1"))
            let warning = "Audiobookshelf is not asked to scan: notify.audiobookshelf names no library; "
            #expect(without == [warning + "set library to its id, with which its address there ends"])
            #expect(with == [])
        }
    }

    @Test func `a variable that means nothing is warned of`() async throws {
        try await withTemporaryPath { folder in
            let environment = [
                "BOOKSYNC_JOB": "3", "BOOKSYNC_JOBS": "3", "BOOKSYNC_CONFIG": folder + "/config.yaml", "BOOK": "x",
                "BOOKSYNC_ZEBRA": "",
            ]
            let check = try ConfigurationCheck { try read(folder, "", environment: environment) }
            #expect(
                check.warnings.map(\.message.description) == [
                    "unknown environment variable BOOKSYNC_JOB: there is no such setting; did you mean BOOKSYNC_JOBS?",
                    "unknown environment variable BOOKSYNC_ZEBRA: there is no such setting; unset it",
                ])
        }
    }

    @Test func `an address may be the secret, and its file be missing for now`() async throws {
        try await withTemporaryPath { folder in
            try write("https://feeds.example/f?key=SECRET\n", to: folder + "/feed")
            let text = """
                sources:
                  a: { type: feed, url-file: feed, bearer: x }
                  b: { type: book-resource, url-file: nowhere }
                """
            let loaded = try read(folder, text)
            #expect(loaded.configuration.sources["a"]?.url == ResourceAddress("https://feeds.example/f?key=SECRET"))
            #expect(!loaded.yamlText().contains("SECRET"))
            #expect(loaded.configuration.sources["b"]?.shortcomings.count == 1)
        }
    }

    @Test func `the netrc is looked for where curl looks, or where it is said to be`() async throws {
        try await withTemporaryPath { folder in
            try write("machine h login home password x", to: folder + "/home/.netrc")
            try write("machine h login env password x", to: folder + "/env")
            try write("machine h login named password x", to: folder + "/named")
            func user(_ text: String, _ environment: [String: String] = [:]) throws -> String {
                let netrc = try read(folder, text, environment: environment).configuration.netrc
                guard case .basic(let user, _) = netrc.authorization(for: "h", orDefault: true) else { return "nobody" }
                return user.secretText
            }
            #expect(try user("") == "home")
            #expect(try user("", ["NETRC": folder + "/env"]) == "env")
            #expect(try user("netrc: named", ["NETRC": folder + "/env"]) == "named")
            #expect(try user("netrc: none", ["NETRC": folder + "/env"]) == "nobody")
            #expect(try user("", ["BOOKSYNC_NETRC": "none"]) == "nobody")
            #expect(try user("", ["NETRC": folder + "/nowhere"]) == "nobody")
            try write("machine h login SECRET nonsense", to: folder + "/home/.netrc")
            let loaded = try read(folder, "")
            #expect(loaded.netrcProblem?.description.contains("home/.netrc, line 1, cannot be read") == true)
            #expect(loaded.netrcProblem?.description.contains("SECRET") == false)
        }
    }
}
