import BookSync
import Foundation
import Support
import Testing

extension ForeignProgramTests {
    /// The OpenAPI document against the server that it describes.
    @Suite(.full) struct Description {
        /// A request, and the answer that the document promises for it.
        struct Case: Sendable {
            var operation: String
            var method: String
            /// In the document.
            var path: String
            var target: String
            var fields: [String] = []
            var body: String?
            var status: Int
        }

        private static func get(
            _ operation: String, _ path: String, _ target: String? = nil, _ fields: [String] = [], _ status: Int = 200
        ) -> Case {
            Case(
                operation: operation, method: "GET", path: path, target: target ?? path, fields: fields,
                status: status)
        }

        private static func post(
            _ name: String, _ body: String?, _ status: Int, type: String = "application/json"
        ) -> Case {
            Case(
                operation: name, method: "POST", path: "/\(name)", target: "/\(name)",
                fields: ["Content-Type: \(type)"], body: body, status: status)
        }

        private static let row = #"{"episodes": [{"source": "demo", "book_id": "40111", "id": "5000000001"}]}"#
        private static let stranger = #"{"refs": ["demo:99"]}"#
        private static let unanswered = #"{"refs": ["http://127.0.0.1:REFUSING/feed.xml"]}"#

        private static func position(_ id: String) -> String {
            #"{"position": {"source": "demo", "book_id": "40111", "id": "\#(id)", "seconds": 1}}"#
        }

        private static let documents = [
            get("books", "/books"), get("books", "/books", "/books?state=finished&sort=title&missing&reverse=1"),
            get("books", "/books", "/books?state=sleeping", [], 400),
            get("book", "/books/{source}/{book}", "/books/demo/40111"),
            get("book", "/books/{source}/{book}", "/books/demo/99", [], 404),
            get("episodes", "/books/{source}/{book}/episodes", "/books/demo/40111/episodes?state=finished&sort=bytes"),
            get("episodes", "/books/{source}/{book}/episodes", "/books/demo/40111/episodes?sort=x", [], 400),
            get("episodes", "/books/{source}/{book}/episodes", "/books/demo/99/episodes", [], 404),
            get("episode", "/books/{source}/{book}/episodes/{section}", "/books/demo/40111/episodes/2"),
            get("episode", "/books/{source}/{book}/episodes/{section}", "/books/demo/40111/episodes/77", [], 404),
            get("standing", "/positions/{source}/{book}/{episode}", "/positions/demo/40111/5000000001"),
            get("standing", "/positions/{source}/{book}/{episode}", "/positions/demo/40111/x", [], 404),
            get("bookmarks", "/bookmarks/{source}/{book}", "/bookmarks/demo/40111"),
            get("bookmarks", "/bookmarks/{source}/{book}", "/bookmarks/demo/99", [], 404),
            get("search", "/search", "/search?q=%E5%A4%9C&limit=3"), get("search", "/search", "/search?q=", [], 400),
            get("queue", "/queue"), get("subscriptions", "/subscriptions"),
            get("runs", "/runs", "/runs?last=1"), get("runs", "/runs", "/runs?last=0", [], 400),
            get("description", "/openapi.json"),
        ]

        private static let actions = [
            post("fetch", #"{"refs": ["demo:40111/1"], "latest": 1, "force": false}"#, 200), post("fetch", "{}", 400),
            post("fetch", #"{"refs": ["nosuch:1"]}"#, 404), post("fetch", unanswered, 422),
            post("pause", row, 200), post("pause", "{}", 400), post("pause", stranger, 404),
            post("resume", #"{"all": true}"#, 200), post("resume", "[]", 400), post("resume", stranger, 404),
            // Not the whole queue of the book.
            post("cancel", #"{"refs": ["demo:40111/3"], "all": true}"#, 400),
            post("pause", #"{"refs": ["demo:40111/77"]}"#, 404), post("remove", #"{"refs": ["~abc:~def"]}"#, 404),
            post("cancel", #"{"episodes": [{"source": "demo", "book_id": "40111", "id": "~x"}]}"#, 404),
            post("cancel", row, 200), post("cancel", #"{"all": 1}"#, 400), post("cancel", stranger, 404),
            post("remove", #"{"refs": ["demo:40111/6"], "forget": true}"#, 200), post("remove", "{", 400),
            post("remove", stranger, 404),
            post("subscribe", #"{"refs": ["demo:40111"], "latest": 2, "title": "夜"}"#, 200),
            post("subscribe", "{}", 400), post("subscribe", #"{"refs": ["nosuch:1"]}"#, 404),
            post("subscribe", unanswered, 422),
            post("unsubscribe", #"{"refs": ["demo:40111"]}"#, 200), post("unsubscribe", "{}", 400),
            post("unsubscribe", stranger, 404), post("unsubscribe", #"{"refs": ["demo:30776"]}"#, 409),
            post("position", position("5000000001"), 200), post("position", "{}", 400),
            post("position", position("x"), 404),
            post("bookmark", position("5000000001"), 200), post("bookmark", row, 400),
            post("bookmark", position("x"), 404),
            post("remove-bookmark", #"{"number": 1}"#, 200), post("remove-bookmark", "{}", 400),
            post("mark", #"{"refs": ["demo:40111"], "played": true}"#, 200), post("mark", row, 400),
            post("mark", #"{"refs": ["demo:99"], "played": true}"#, 404),
            post("speed", #"{"refs": ["demo:40111"], "speed": 1.25}"#, 200),
            post("speed", #"{"refs": ["demo:40111"], "speed": 9}"#, 400),
            post("speed", #"{"refs": ["demo:99"], "speed": 1}"#, 404),
            post("dismiss", row, 200), post("dismiss", "{}", 400), post("dismiss", stranger, 404),
            post(
                "import", #"{"outline": "<opml><body><outline xmlUrl='https://feeds.example/1'/></body></opml>"}"#, 200),
            post("import", "{}", 400), post("import", #"{"outline": "no list"}"#, 422),
            post("mirror", nil, 200), post("mirror", #"{"refs": []}"#, 400),
            post("preview", #"{"refs": ["demo:40111"]}"#, 200), post("preview", #"{"refs": []}"#, 400),
            post("preview", #"{"refs": ["nosuch:1"]}"#, 404), post("preview", unanswered, 422),
        ]

        private static let names = [
            "fetch", "pause", "resume", "cancel", "remove", "subscribe", "unsubscribe", "position", "mirror",
            "preview", "import", "bookmark", "remove-bookmark", "mark", "speed", "dismiss",
        ]

        private struct Document {
            let members: [String: Any]
            let schema: JSONSchema

            init(_ bytes: [UInt8]) throws {
                let data = Data(bytes)
                members = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
                schema = JSONSchema(document: data)
            }

            /// Every operation with the statuses that it documents.
            func answers() throws -> Set<String> {
                var answers: Set<String> = []
                for (_, item) in try #require(members["paths"] as? [String: [String: [String: Any]]]) {
                    for (_, operation) in item {
                        let name = try #require(operation["operationId"] as? String)
                        let statuses = try #require(operation["responses"] as? [String: Any])
                        answers.formUnion(statuses.keys.map { "\(name) \($0)" })
                    }
                }
                return answers
            }
        }

        /// - Parameter refusing: a port that refuses every connection, where the case names one.
        private func ask(
            _ asked: Case, _ shelf: ServedShelf, _ document: Document, refusing: Int
        ) async throws -> String {
            var asked = asked
            asked.target = asked.target.replacing("REFUSING", with: "\(refusing)")
            asked.body = asked.body?.replacing("REFUSING", with: "\(refusing)")
            let length = asked.body.map { ["Content-Length: \($0.utf8.count)"] } ?? []
            let answer = try await shelf.send(
                "/api/v1" + asked.target, method: asked.method, asked.fields + length, body: asked.body ?? "")
            let what = "\(asked.operation) \(asked.target) \(asked.body ?? "")"
            #expect(answer.status == asked.status, "\(what): \(answer.text.prefix(300))")
            guard answer.status != 304, answer.status != 412 else { return "\(asked.operation) \(answer.status)" }
            #expect(answer.fields["content-type"] == "application/json; charset=utf-8", "\(what)")
            let path = asked.path.replacing("/", with: "~1")
            let method = asked.method.lowercased()
            let place = "#/paths/\(path)/\(method)/responses/\(answer.status)"
            let isRefused = answer.status >= 400
            let pointer =
                isRefused ? "#/components/schemas/Error" : place + "/content/application~1json/schema"
            #expect(try document.schema.faults(of: answer.text, at: pointer) == [], "\(what)")
            return "\(asked.operation) \(answer.status)"
        }

        @Test func `every path answers as described, and every refusal described can be had`() async throws {
            try await withWorkbenchAndRefusingPort { bench, refusing in
                try bench.configure("subscriptions:\n  - book: demo:30776\n    only: 1\n")
                let environment = bench.configured
                #expect(try await bench.run("fetch", "40111", "-q").exitCode == 0)
                try await bench.dropFiles("40111/3")
                #expect(try await bench.run("pause", "40111/3").exitCode == 0)
                #expect(try await bench.run("subscribe", "demo:40111").exitCode == 0)
                var met: Set<String> = []
                let document = try await bench.serve(environment: environment) { shelf in
                    let document = try Document(try await shelf.send("/api/v1/openapi.json").body)
                    func meet(_ asked: Case) async throws {
                        met.insert(try await ask(asked, shelf, document, refusing: refusing))
                    }
                    for asked in Self.documents { try await meet(asked) }
                    for asked in Self.documents where asked.status == 200 {
                        for (field, status) in [("If-None-Match: *", 304), ("If-Match: \"other\"", 412)] {
                            var conditional = asked
                            (conditional.fields, conditional.status) = ([field], status)
                            try await meet(conditional)
                        }
                    }
                    // What is done changes what is told.
                    for asked in Self.actions { try await meet(asked) }
                    for name in Self.names {
                        try await meet(Self.post(name, "{}", 415, type: "text/plain"))
                    }
                    let stream = try EventStream(shelf)
                    try await stream.begun()
                    met.insert("events 200")
                    return document
                }
                try await bench.serve("--read-only") { shelf in
                    for name in Self.names {
                        met.insert(try await ask(Self.post(name, "{}", 403), shelf, document, refusing: refusing))
                    }
                    let rotation = try await shelf.post("/actions/rotate-apps", form: [], ["Origin: \(shelf.address)"])
                    #expect(rotation.status == 403)
                    #expect(try await shelf.send("/api/v1/fetch").status == 405)
                }
                try bench.configure(
                    """
                    sources:
                      s: {type: book-resource, url: "http://127.0.0.1:9/l", query: {token: "${NOT_SET}"}}
                    """)
                try await bench.serve(environment: environment) { shelf in
                    met.insert(
                        try await ask(
                            Self.post("preview", #"{"refs": ["s:1"]}"#, 409), shelf, document,
                            refusing: refusing))
                }
                // Passwords, and a server at its end, have tests of their own.
                let elsewhere = try document.answers().filter { $0.hasSuffix(" 401") || $0.hasSuffix(" 503") }
                #expect(met == (try document.answers()).subtracting(elsewhere))
            }
        }

        @Test(.needs("schemathesis"), .firstInLine)
        func `a fuzzer of APIs finds no answer that is not described`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    let api = "\(shelf.address)/api/v1"
                    let result = try await withProduct(
                        // An endless answer is none to a fuzzer. What REFs mean, no schema can say.
                        [
                            "run", "\(api)/openapi.json", "--url", api, "--exclude-path", "/events", "--checks", "all",
                            "--exclude-checks", "positive_data_acceptance,ignored_auth", "--phases",
                            "examples,coverage",
                        ], in: bench.folder, executable: ForeignProgram.path("schemathesis")
                    ) { try await $0.result() }
                    #expect(result.exitCode == 0, "\(result.output.suffix(4000))")
                }
            }
        }
    }
}
