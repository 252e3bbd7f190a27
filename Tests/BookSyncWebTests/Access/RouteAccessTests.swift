import BookModel
import Foundation
import Hummingbird
import NIOHTTP1
import Support
import Testing

@testable import BookSync
@testable import BookSyncWeb
@testable import Settings

/// Who may have what is at each of the paths, as the running server answers.
@Suite(.limitedConcurrency) struct RouteAccessTests {
    private static let token = "0123456789abcdef-TOKEN"

    /// Serves an empty library to those who have the token.
    private func withServer(
        basePath: String = "", _ body: (_ root: String, _ routes: [(method: String, path: String)]) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            var configuration = Configuration.builtIn
            configuration.library = folder.path
            configuration.serve.token = Secret(Self.token)
            let server = ShelfServer(
                configuration, at: try ListenTarget(parsing: "127.0.0.1:0"), basePath: basePath,
                pages: try ShelfPages(ServedShelf(configuration)) { _ in [] })
            let (addresses, running) = AsyncStream.makeStream(of: String.self)
            let serving = Task { try await server.run { running.yield($0) } }
            let root = try #require(await addresses.first { _ in true })
            let routes = server.routes.router().routes.map { route in
                // Whatever stands for a part that has a name.
                let parts = route.path.description.dropFirst(basePath.count).split(separator: "/")
                    .map { $0.replacing(/\{[A-Za-z]+\}/, with: "x") }
                return (method: route.method.rawValue, path: "/" + parts.joined(separator: "/"))
            }
            try await body(root, routes)
            serving.cancel()
            try await serving.value
        }
    }

    /// - Returns: the status, and where the answer leads.
    private func send(
        _ method: String, _ url: String, _ fields: [(String, String)] = []
    ) async throws -> (status: Int?, location: String?) {
        let type = url.contains("/api/") ? "application/json" : "application/x-www-form-urlencoded"
        let answer = try await rawExchange(method, url, fields + (method == "POST" ? [("Content-Type", type)] : []))
        return (answer.status, answer.first("Location"))
    }

    @Test(arguments: ["", "/shelf"])
    func `what is open to those who prove nothing is the login and what it is dressed with`(_ base: String) async throws
    {
        try await withServer(basePath: base) { root, routes in
            #expect(routes.count > 60)
            var open: Set<String> = []
            for (method, path) in routes {
                let (status, location) = try await send(method, root + path)
                switch (method, path.split(separator: "/").first ?? "") {
                case ("POST", "actions") where path.contains("/log"): #expect(status == 403, "\(path)")
                case (_, "api"), (_, "feeds"), (_, "media"), (_, "catalog"), (_, "chapters"), (_, "covers"),
                    (_, "previews"), (_, "joined"),
                    (_, "subscriptions.opml"):
                    #expect(status == 401, "\(method) \(path)")
                case (_, "apps"): #expect(status == 404, "\(path)")
                case _ where location?.hasPrefix("\(base)/login") == true: #expect(status == 303)
                default: open.insert(path)
                }
            }
            #expect(open == ["/login", "/static/x", "/static/x/x"])
        }
    }

    @Test func `what changes something is refused to the pages of others, whatever they bring`() async throws {
        try await withServer { root, routes in
            for (method, path) in routes where method == "POST" {
                let known = [("Authorization", "Bearer \(Self.token)")]
                let foreign = known + [("Sec-Fetch-Site", "cross-site"), ("Origin", root)]
                // Where nothing is said of who sends it, a form has its token to prove it by.
                for fields in path.hasPrefix("/actions") ? [foreign, known] : [foreign] {
                    let (status, _) = try await send(method, root + path, fields)
                    #expect(status == 403, "\(path)")
                }
            }
        }
    }

    @Test func `the token opens everything but what is the apps'`() async throws {
        try await withServer { root, routes in
            for (method, path) in routes where method != "POST" && !path.hasSuffix("/events") {
                let (status, location) = try await send(
                    method, root + path, [("Authorization", "Bearer \(Self.token)")])
                // This shelf is served read-only: nothing can be added to it.
                if path == "/discover" {
                    #expect(status == 403)
                    continue
                }
                #expect([200, 303, 404].contains(status) && location?.contains("login") != true, "\(method) \(path)")
                #expect(!path.hasPrefix("/apps") || status == 404, "\(path)")
            }
        }
    }

    @Test(arguments: [
        ("/nothing", 303), ("/books/a", 303), ("/queue/", 404), ("//queue", 404), ("/api/v1/nothing", 401),
        ("/api", 401), ("/media/a", 401), ("/apps", 404), ("/apps/x/queue", 404), ("/.well-known", 404),
        ("/%61pi/v1/books", 404), ("/api/v1/books/..", 404),
    ])
    func `where nothing is, only those who may see the shelf learn so`(_ path: String, _ status: Int) async throws {
        try await withServer { root, _ in
            #expect(try await send("GET", root + path).status == status)
            let known = try await send("GET", root + path, [("Authorization", "Bearer \(Self.token)")])
            #expect(known.status == 404)
        }
    }
}
