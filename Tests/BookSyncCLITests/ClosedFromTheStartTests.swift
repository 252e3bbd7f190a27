import BookModel
import Foundation
import Hummingbird
import Settings
import Support
import Testing

@testable import BookSync
@testable import BookSyncWeb

extension ProductTests {
    /// What strangers get from the moment on in which a server listens: nothing.
    @Suite struct ClosedFromTheStart {
        enum Guard: CaseIterable {
            case users, password, restoredStore, lockedStore, damagedStore
        }

        /// What is answered at which path, each once, with the names of what is there in place of the parts that have names.
        private static func routes(of library: URL, appsKey: String) throws -> [(method: String, path: String)] {
            var configuration = Configuration.builtIn
            configuration.library = library.path
            let server = ShelfServer(
                configuration, at: try ListenTarget(parsing: "127.0.0.1:0"),
                pages: try ShelfPages(BookSync.ServedShelf(configuration)) { _ in [] })
            let names = [
                "appsKey": appsKey, "source": "demo", "book": "40111", "episode": "5000000001", "section": "1",
                "file": "5000000001.mp3",
            ]
            return server.routes.router().routes.filter { $0.method.rawValue != "HEAD" }.map { route in
                var path = "/" + route.path.description.split(separator: "/").joined(separator: "/")
                for (name, value) in names { path = path.replacing("{\(name)}", with: value) }
                return (route.method.rawValue, path.replacing(/\{[A-Za-z]+\}/, with: "x"))
            }
        }

        /// Whether an answer to somebody who proved nothing gives nothing away.
        private static func isRefusal(_ status: Int, of path: String, leadingTo location: String?) -> Bool {
            // What the login is dressed with is for everybody.
            if path == "/login" || path.hasPrefix("/static/") { return [200, 404].contains(status) }
            // The login itself is there for strangers, and lacks a password here.
            if path == "/actions/login", [400, 403, 503].contains(status) { return true }
            // An open server refuses a form as well, if it is not its own.
            if path.hasPrefix("/actions/") { return status == 303 && location?.hasPrefix("/login") == true }
            return switch status {
            case 401, 403, 503: true
            case 303: !path.hasPrefix("/api/") && location?.hasPrefix("/login") == true
            // Below the address of the apps nothing is told.
            case 404: path.hasPrefix("/apps/")
            default: false
            }
        }

        /// Opens connections as soon as the server listens, and sends their requests before any answer is read.
        /// - Returns: of each connection the bytes that came.
        private static func flood(_ port: Int, _ server: pid_t, _ requests: [String]) async throws -> [String] {
            try await onThread {
                // Refused until the server listens; a server that has ended never will.
                var first: Socket?
                while first == nil, kill(server, 0) == 0 { first = try? Socket.connected(port: port) }
                let others = try requests.dropFirst().map { _ in try Socket.connected(port: port) }
                let all = (first.map { [$0] } ?? []) + others
                for (socket, request) in zip(all, requests) { _ = socket.send(Array(request.utf8)[...]) }
                return all.map { socket in
                    defer { socket.close() }
                    var received: [UInt8] = []
                    while case let part = socket.receive(), !part.isEmpty { received += part }
                    return String(decoding: received, as: UTF8.self)
                }
            }
        }

        /// Starts the server some times, each time with 40 clients that ask for all routes: over five starts each route is
        /// asked for 40 times, while 40 requests are under way.
        /// - Parameter damage: takes place once the server has read the store, and before anybody asks; nil for none.
        private static func expectClosed(
            _ bench: Workbench, starts: Int, appsKey: String, after damage: String? = nil
        ) async throws {
            let routes = try routes(of: bench.library, appsKey: appsKey)
            try #require(routes.count > 60)
            let share = Tier.choose(full: 5, long: 1)
            for start in 0..<starts {
                let port = try await withRefusingPort { $0 }
                let asked = (0..<40).map { client in
                    let own = routes.indices.filter { ($0 + client + start) % share == 0 }
                    // Each begins with another one.
                    let turn = client % own.count
                    return (own[turn...] + own[..<turn]).map { routes[$0] }
                }
                let requests = asked.map { routes in
                    routes.enumerated().map { number, route in
                        """
                        \(route.method) \(route.path) HTTP/1.1\r
                        Host: 127.0.0.1\r
                        \(route.path.hasPrefix("/actions/") ? "Sec-Fetch-Site: same-origin\r\n" : "")\
                        Content-Type: \(route.path.hasPrefix("/api") ? "application/json" : "application/x-www-form-urlencoded")\r
                        \(number == routes.count - 1 ? "Connection: close\r\n" : "")Content-Length: 0\r\n\r\n
                        """
                    }.joined()
                }
                let arguments = ["serve", "--listen", "127.0.0.1:\(port)", "--library", "L"]
                try await withProduct(arguments, environment: bench.configured, in: bench.folder) { server in
                    if let damage {
                        try await server.waitForOutput(containing: "http")
                        #expect(try await bench.shell(damage).exitCode == 0)
                    }
                    let answers = try await flood(port, server.processIdentifier, requests)
                    try #require(answers.count == 40)
                    for (routes, text) in zip(asked, answers) {
                        // What is refused has no text that begins so.
                        let heads = text.components(separatedBy: "HTTP/1.1 ").dropFirst()
                        #expect(heads.count == routes.count, "\(text)")
                        for (route, head) in zip(routes, heads) {
                            let lines = head.components(separatedBy: "\r\n")
                            let location = lines.first { $0.lowercased().hasPrefix("location: ") }?.dropFirst(10)
                            let status = try #require(Int(head.prefix(3)))
                            #expect(
                                isRefusal(status, of: route.path, leadingTo: location.map(String.init)),
                                "\(route.method) \(route.path): \(status)")
                        }
                    }
                }
            }
        }

        @Test(
            .needs(python: "sqlite3"),
            arguments: Guard.allCases)
        func `strangers get nothing from the first moment on, whatever the store is like`(_ guarding: Guard)
            async throws
        {
            try await withWorkbench { bench in
                let fetched = try await bench.run("fetch", "40111", "-q")
                try #require(fetched.exitCode == 0, "\(fetched.errors)")
                var key = "x"
                if guarding == .password {
                    try bench.configure("serve:\n  password: \(ServedShelf.hash)\n")
                } else {
                    try bench.configure("")
                    // A key from the time without users.
                    let status = try await bench.serve { try await $0.send("/subscriptions").status }
                    #expect(status == 200)
                    key = try bench.appsKey
                    let added = try await bench.shell(
                        """
                        cp L/.booksync/store.sqlite before
                        echo 'password of Anna' | $BOOKSYNC serve --add-user Anna --library L
                        """)
                    try #require(added.exitCode == 0, "\(added.errors)")
                }
                let starts = Tier.choose(full: guarding == .users ? 5 : 1, long: 5)
                switch guarding {
                case .users, .password: try await Self.expectClosed(bench, starts: starts, appsKey: key)
                case .restoredStore:
                    _ = try await bench.shell("rm L/.booksync/store.sqlite*; mv before L/.booksync/store.sqlite")
                    try await Self.expectClosed(bench, starts: starts, appsKey: key)
                case .damagedStore:
                    try await Self.expectClosed(
                        bench, starts: 1, appsKey: key,
                        after: "rm L/.booksync/store.sqlite*; head -c 100000 /dev/urandom > L/.booksync/store.sqlite")
                    // No server begins with such a store.
                    #expect(try await bench.run("serve", "--listen", "127.0.0.1:0").exitCode == 74)
                    return
                case .lockedStore:
                    let python = try #require(await ForeignProgram.python(having: "sqlite3"))
                    try await withProduct(["-c", LockedStore.taking], in: bench.folder, executable: python) { holder in
                        try await holder.waitForOutput(containing: "held")
                        try await Self.expectClosed(bench, starts: starts, appsKey: key)
                    }
                }
                #expect(try bench.files().count == 6)
                // Who has the password is let in all the same.
                guard guarding != .password else { return }
                try await bench.serve { shelf in
                    let cookie = try await shelf.logIn("password of Anna", as: "Anna").cookie
                    #expect(cookie != nil)
                }
            }
        }

        @Test(arguments: ["", "{\"version\":1,\"users\":[", "{\"version\":2,\"users\":[]}", "[]"])
        func `a file of users that cannot be read lets nobody in, and those who are known stay`(_ text: String)
            async throws
        {
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", "40111", "-q").exitCode == 0)
                let added = try await bench.shell(
                    "echo 'password of Anna' | $BOOKSYNC serve --add-user Anna --library L")
                try #require(added.exitCode == 0, "\(added.errors)")
                let file = bench.library.appending(path: ".booksync/serve-users")
                let facts = try FileManager.default.attributesOfItem(atPath: file.path)
                #expect(facts[.posixPermissions] as? Int == 0o600)
                try await bench.serve { shelf in
                    let anna = try #require(try await shelf.logIn("password of Anna", as: "Anna").cookie)
                    try Data(text.utf8).write(to: file)
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask {
                            _ = try await shelf.product.waitForErrors(containing: "the users cannot be read")
                        }
                        // Looks at users come with requests.
                        group.addTask {
                            while !Task.isCancelled {
                                let status = try await shelf.status(anna)
                                #expect(status == 200)
                            }
                        }
                        try await group.next()
                        group.cancelAll()
                    }
                    #expect(try await shelf.status(nil) == 401)
                }
                for arguments in [["serve", "--listen", "127.0.0.1:0"], ["serve", "--list-users"]] {
                    let refused = try await bench.runBare(arguments + ["--library", "L"])
                    #expect(refused.exitCode == 74 && refused.errors.contains("serve-users"), "\(refused.errors)")
                }
                #expect(try String(contentsOf: file, encoding: .utf8) == text)
            }
        }

        @Test func `users are added at the same time without losing one`() async throws {
            try await withWorkbench { bench in
                let script = (1...6).map {
                    "(echo 'password \($0)' | $BOOKSYNC serve --add-user U\($0) --library L) & added=\"$added $!\""
                }
                let added = try await bench.shell(
                    script.joined(separator: "\n") + "\nfor one in $added; do wait $one || exit; done")
                #expect(added.exitCode == 0, "\(added.errors)")
                let listed = try await bench.run("serve", "--list-users").outputLines
                #expect(listed == (1...6).map { "U\($0): all books" })
            }
        }

        @Test func `users whose file was deleted are locked out, and nobody is let in without a name`() async throws {
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", "40111", "-q").exitCode == 0)
                let added = try await bench.shell("echo 'password of Kim' | $BOOKSYNC serve --add-user Kim --library L")
                #expect(added.exitCode == 0, "\(added.errors)")
                try FileManager.default.removeItem(at: bench.library.appending(path: ".booksync/serve-users"))
                try await bench.serve { shelf in
                    let (stranger, login) = (
                        try await shelf.status(nil), try await shelf.logIn("password of Kim", as: "Kim")
                    )
                    #expect(stranger == 401 && login.cookie == nil)
                }
                // A new password does not show everything.
                #expect(try await bench.run("serve", "--list-users").outputLines == ["Kim: no books"])
                let set = try await bench.shell("echo 'another of Kim' | $BOOKSYNC serve --passwd Kim --library L")
                #expect(set.exitCode == 0, "\(set.errors)")
                #expect(try await bench.run("serve", "--list-users").outputLines == ["Kim: no books"])
            }
        }
    }
}
