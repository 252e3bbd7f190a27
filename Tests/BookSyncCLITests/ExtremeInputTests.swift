import BookSyncWeb
import Foundation
import Support
import Testing

extension ProductTests.ExtremeNumbers {
    /// The same of options, settings, files, the store, headers and requests.
    @Suite struct Inputs {
        private static let book = DemoCatalog.shortBook

        /// A library with the short book of the demo catalog.
        private func withShortBook(_ body: (Workbench) async throws -> Void) async throws {
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", Self.book, "-q").exitCode == 0)
                try await body(bench)
            }
        }

        @Test func `no option and no variable ends a process by its number`() async throws {
            try await withShortBook { bench in
                let options: [[String]] = [
                    // First of all, so that a mirror has something to do.
                    ["subscribe", Self.book, "--max-bytes", "N", "--keep", "last N, Nw", "--max-size", "N"],
                    ["fetch", Self.book, "--only", "N"], ["fetch", Self.book, "--only", "0-N"],
                    ["fetch", Self.book, "--latest", "N"], ["fetch", Self.book, "--jobs", "N"],
                    ["fetch", Self.book, "--limit-rate", "N"], ["plan", "\(Self.book)/0-N"],
                    ["fetch", Self.book, "--since", "Nd"], ["mirror", "--max-episodes", "N"],
                    ["mirror", "--max-bytes", "N"],
                    ["mirror", "--time-limit", "N"], ["mirror", "--time-limit", "Nw"], ["mirror", "--wait", "N"],
                    ["mirror", "--shard", "0/N"], ["list", "--limit", "N"], ["runs", "--last", "N"],
                    ["search", "a", "--limit", "N"], ["show", "@N"], ["show", "@-9223372036854775808"],
                    ["show", "\(Self.book)/N"],
                    ["explain", "\(Self.book)/latest:N"], ["remove", "\(Self.book)/0-N", "--dry-run"],
                    ["join", Self.book, "--max-part", "N", "--bitrate", "N", "--dry-run"],
                ]
                #expect(try await bench.run("subscribe", Self.book, "-q").exitCode == 0)
                for value in Extreme.few.prefix(Tier.choose(full: 1, long: 3)) {
                    for option in options {
                        let arguments = option.map { $0.replacing("N", with: value) }
                        let result = try await bench.runBare(arguments + ["--library", "L"])
                        result.expectEnd("\(arguments)")
                        // Only a mirror that begins meets its limits.
                        if option[0] == "mirror", option[1] != "--shard" {
                            #expect(result.exitCode != 78, "\(arguments): \(result.errors)")
                        }
                    }
                    let variables = [
                        "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MAX", "COLUMNS", "LINES", "BOOKSYNC_JOBS",
                        "BOOKSYNC_LIMIT_RATE", "BOOKSYNC_DEMO_PACE",
                    ]
                    let environment = Dictionary(uniqueKeysWithValues: variables.map { ($0, value) })
                    for arguments in [
                        ["mirror", "--shard", "auto"], ["fetch", Self.book], ["list"], ["help", "fetch"],
                    ] {
                        let result = try await bench.runBare(arguments + ["--library", "L"], environment: environment)
                        result.expectEnd("\(arguments) with \(value)")
                    }
                }
            }
        }

        @Test func `no setting ends a process by its number`() async throws {
            try await withShortBook { bench in
                let fields = ExtremeFields(try await bench.run("config", "show").output)
                #expect(fields.names.count > 10)
                for value in Extreme.few.prefix(Tier.choose(full: 1, long: 3)) + ["9223372036854775807w"] {
                    for name in fields.names {
                        try bench.configure(fields.setting([name: value]))
                        let result = try await bench.run("plan", Self.book, "--offline", environment: bench.configured)
                        result.expectEnd("\(name): \(value)")
                    }
                }
                try bench.configure(
                    """
                    trash: 100000w
                    downloads: { limit-rate: 9223372036854775807, min-rate: 9223372036854775807,
                      max-undeclared-size: 9223372036854775807, min-free-space: 9223372036854775807 }
                    subscriptions: [{ book: "\(Self.book)", latest: 9223372036854775807, keep: "last 9223372036854775807, 100000w",
                      max-size: 9223372036854775807, max-bytes: 9223372036854775807, max-episodes: 9223372036854775807 }]
                    """)
                for arguments in [["mirror"], ["fetch", Self.book, "--force"], ["trash", "list"], ["doctor"]] {
                    let result = try await bench.runBare(
                        arguments + ["--library", "L"], environment: bench.configured)
                    result.expectEnd("\(arguments)")
                }
            }
        }

        @Test(.needs("touch"))
        func `files of any date are planned, verified and served`() async throws {
            try await withShortBook { bench in
                let files = try bench.files().keys.sorted()
                let dates = [
                    "@-62135596800", "@-2147483648", "@-1", "@9223372036", "@9223372037", "@15032385535",
                    "@9223372036854775807", "@-9223372036854775808",
                ]
                for (number, date) in dates.enumerated() {
                    // A file system that does not hold the date keeps the closest, or refuses it.
                    let path = "L/" + files[number % files.count]
                    _ = try await ForeignProgram.run("touch", ["-d", date, path], in: bench)
                    for arguments in [["plan", Self.book], ["fetch", Self.book], ["verify"]] {
                        let result = try await bench.runBare(arguments + ["--library", "L"])
                        result.expectEnd("\(arguments) \(date)")
                        #expect(result.exitCode == 0, "\(arguments) \(date): \(result.errors)")
                    }
                }
                try await bench.serve { shelf in
                    let feed = try await shelf.send("/feeds/demo/\(Self.book).xml")
                    let media = feed.text.matches(of: /enclosure[^>]* url="http:\/\/[^\/]+([^"]+)"/).map {
                        String($0.1)
                    }
                    #expect(media.count == files.count)
                    for path in media {
                        for field in [
                            "Range: bytes=0-9223372036854775807", "If-Modified-Since: Fri, 31 Dec 9999 23:59:59 GMT",
                        ] {
                            #expect(try await [200, 206, 304].contains(shelf.send(path, [field]).status), "\(path)")
                        }
                    }
                    try await shelf.expectWell("/")
                }
            }
        }

        @Test(.needs("sqlite3"))
        func `no number in the store ends a process`() async throws {
            try await withShortBook { bench in
                #expect(try await bench.run("subscribe", Self.book).exitCode == 0)
                #expect(try await bench.run("remove", "\(Self.book)/2", "--yes").exitCode == 0)
                _ = try await bench.shell("cp -r L/.booksync kept")
                // What is no number but true or false hides the others: any number for it is refused.
                let columns = """
                    SELECT m.name, p.name, p.type FROM sqlite_master m JOIN pragma_table_info(m.name) p
                    WHERE m.type = 'table' AND m.sql LIKE 'CREATE TABLE%' AND p.type IN ('INTEGER', 'REAL')
                        AND p.name <> 'id' AND p.name NOT LIKE '%_id' AND p.name NOT IN ('locked', 'gone', 'complete',
                            'is_named_by_user', 'told', 'finished', 'wanted')
                    """
                let found = try await ForeignProgram.run("sqlite3", ["L/.booksync/store.sqlite", columns], in: bench)
                let rows = found.outputLines.map { $0.split(separator: "|").map(String.init) }
                let tables = Set(rows.map { $0[0] }).sorted()
                #expect(tables.count > 10)
                // One that cannot be read hides those beside it: a table at a time, where there is time.
                let parts = Tier.choose(full: 2, long: tables.count)
                for value in ["9223372036854775807", "-9223372036854775808", "9e999"] {
                    for part in 0..<parts {
                        let changed = rows.filter { row in
                            tables.firstIndex(of: row[0]).map { $0 % parts == part } == true
                                && (value != "9e999" || row[2] == "REAL")
                        }
                        let statements = changed.map { "UPDATE OR IGNORE \($0[0]) SET \"\($0[1])\" = \(value);" }
                        let counts = [("run", "summary"), ("cached_plan", "plan")].map { table, column in
                            "UPDATE \(table) SET \(column) = replace(\(column), ':0', ':\(value)');"
                        }
                        let sql =
                            "PRAGMA ignore_check_constraints = 1; "
                            + (statements + (value == "9e999" ? [] : counts)).joined(separator: " ")
                        let written = try await ForeignProgram.run(
                            "sqlite3", ["L/.booksync/store.sqlite", sql], in: bench)
                        #expect(written.exitCode == 0, "\(written.errors)")
                        for arguments in [["list"], ["show", "\(Self.book)/1"], ["runs"], ["mirror"]] {
                            let result = try await bench.runBare(arguments + ["--library", "L"])
                            #expect(result.signal == nil, "\(changed) \(value) \(arguments): \(result.errors)")
                        }
                        _ = try await bench.shell("rm -r L/.booksync; cp -r kept L/.booksync")
                    }
                }
            }
        }

        @Test(arguments: ["Retry-After", "Age", "Date", "Content-Length", "Last-Modified", "Content-Range"])
        func `no header of a catalog ends a process`(name: String) async throws {
            try await withWorkbench { bench in
                for (number, value) in Extreme.few.prefix(2).enumerated() {
                    var reply = Reply.text("busy", status: name == "Retry-After" ? 503 : 206)
                    reply.setHeader(name, value)
                    reply.ending = .close
                    try await withServer(.always(reply)) { server in
                        try bench.configure("downloads: { retries: \(number % 2) }")
                        let arguments = ["plan", server.url("/feed"), "--library", "L"]
                        let result = try await bench.runBare(arguments, environment: bench.configured)
                        result.expectEnd("\(name): \(value)")
                    }
                }
            }
        }

        @Test func `no number in a request ends the server`() async throws {
            let name = #""source":"demo","book_id":"\#(Self.book)","id":"5000000001""#
            let bodies = [
                "position": #"{"position":{\#(name),"seconds":12,"duration":100,"revision":3}}"#,
                "bookmark": #"{"position":{\#(name),"seconds":12,"duration":100},"note":"n"}"#,
                "speed": #"{"refs":["demo:\#(Self.book)"],"speed":1.5}"#,
                "fetch": #"{"refs":["demo:\#(Self.book)"],"latest":2}"#, "remove-bookmark": #"{"number":1}"#,
                "subscribe": #"{"refs":["demo:\#(Self.book)"],"latest":2}"#,
            ]
            let queries = [
                "/?page=N", "/books/demo/\(Self.book)?page=N", "/books/demo/\(Self.book)?section=N", "/queue?page=N",
                "/subscriptions?page=N", "/search?q=a&page=N&limit=N", "/api/v1/search?q=a&limit=N",
                "/api/v1/runs?last=N",
                "/api/v1/books/demo/\(Self.book)/episodes/N", "/previews/N",
                "/catalog/demo/ClientGetBookResource.action?bookId=\(Self.book)&pageNum=N&pageSize=N&sortType=N",
            ]
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    for value in Extreme.all {
                        let escaped = value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                        for query in queries {
                            let answer = try await shelf.send(
                                query.replacing("N", with: escaped),
                                [
                                    "Range: bytes=\(value)-\(value)", "Last-Event-ID: \(value)",
                                    "If-Modified-Since: \(value)",
                                ])
                            #expect(answer.status < 500, "\(query) \(value)")
                        }
                        for (action, body) in bodies {
                            let fields = ExtremeFields(body)
                            for field in fields.names where field != "book_id" && field != "id" {
                                let text = fields.setting([field: value])
                                let answer = try await shelf.send(
                                    "/api/v1/\(action)", method: "POST",
                                    ["Content-Type: application/json", "Content-Length: \(text.utf8.count)"], body: text
                                )
                                #expect(answer.status < 500, "\(action) \(text)")
                            }
                        }
                    }
                    try await shelf.expectWell("/")
                }
            }
        }
    }
}
