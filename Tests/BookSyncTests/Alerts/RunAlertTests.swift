import BookModel
import Foundation
import Support
import Testing
import Transport

@testable import BookSync
@testable import Settings

@Suite(.full, .limitedConcurrency) struct RunAlertTests {
    private static let document = "{\"event\":\"summary\"}\n"

    private func run(_ command: String, limit: Double = 30) async -> AlertOutcome {
        await AlertCommand(command: Secret(command), limit: limit).run(Self.document)
    }

    @Test func `a command gets the document on its standard input`() async throws {
        try await withTemporaryFolder { (folder: URL) async throws in
            let file = folder.appending(path: "it's here")
            let quoted = "'" + file.path.replacing("'", with: "'\\''") + "'"
            let outcome = await run("cat > \(quoted)")
            #expect(outcome.isDelivered)
            #expect(outcome.notice == nil)
            #expect(try String(contentsOf: file, encoding: .utf8) == Self.document)
        }
    }

    @Test func `a document of any length goes to a command that reads none of it`() async {
        let outcome = await AlertCommand(command: Secret("true")).run(String(repeating: "x", count: 1 << 20))
        #expect(outcome.isDelivered)
    }

    @Test func `what a command says, and how it fails, is told on one line without its arguments`() async {
        let outcome = await run("echo first; echo to hunter2secret >&2; exit 3")
        #expect(!outcome.isDelivered)
        #expect(outcome.notice?.description == "notify.exec (echo ***) failed with exit code 3: first / to ***")
        #expect(await run("echo fine").notice?.description == "notify.exec (echo ***) says: fine")
        #expect(await run("no-such-program-here").notice?.description.contains("exit code 127") == true)
    }

    @Test func `output without end holds nobody up, and only its beginning is told`() async throws {
        let outcome = await run("head -c 5000000 /dev/zero | tr '\\0' 'x'")
        #expect(outcome.isDelivered)
        #expect(try #require(outcome.notice).description.count < 1200)
    }

    @Test func `a command that does not end is ended, with all that it started`() async throws {
        try await withTemporaryFolder { (folder: URL) async throws in
            let file = folder.appending(path: "pid").path
            let outcome = await run("sleep 1000 & echo $! > \(file); trap '' TERM; sleep 1000; sleep 1000", limit: 2)
            #expect(!outcome.isDelivered)
            #expect(outcome.notice?.description.contains("was ended after 2 s") == true)
            try await expectEnd(ofProcessIn: file)
        }
    }

    @Test func `what a command leaves running does not outlive it`() async throws {
        try await withTemporaryFolder { (folder: URL) async throws in
            let file = folder.appending(path: "pid").path
            #expect(await run("sleep 1000 & echo $! > \(file)").isDelivered)
            try await expectEnd(ofProcessIn: file)
        }
    }

    @Test func `an interrupted run ends its command`() async throws {
        try await withTemporaryFolder { (folder: URL) async throws in
            let file = folder.appending(path: "pid").path
            let task = Task { await run("echo $$ > \(file).new; mv \(file).new \(file); exec sleep 1000", limit: 1000) }
            while !FileManager.default.fileExists(atPath: file) { try await Task.sleep(for: .milliseconds(5)) }
            task.cancel()
            #expect(await !task.value.isDelivered)
            try await expectEnd(ofProcessIn: file)
        }
    }

    @Test func `an interrupted run ends what its command started too, whatever that thinks of it`() async throws {
        try await withTemporaryFolder { (folder: URL) async throws in
            let file = folder.appending(path: "pid").path
            let script =
                "(trap '' TERM; sh -c 'echo $PPID' > \(file).new; mv \(file).new \(file); while :; do sleep 1; done) & wait"
            let task = Task { await run(script, limit: 1000) }
            while !FileManager.default.fileExists(atPath: file) { try await Task.sleep(for: .milliseconds(5)) }
            task.cancel()
            #expect(await !task.value.isDelivered)
            try await expectEnd(ofProcessIn: file)
        }
    }

    @Test func `a part of an argument that a command repeats is not told either`() async {
        let outcome = await run("f() { echo \"bad ${1#*:}\"; exit 3; }; f me:hunter2secret")
        #expect(outcome.notice?.description.contains("exit code 3") == true)
        #expect(outcome.notice?.description.contains("hunter2secret") == false)
        let tabbed = await run("echo\thunter2secret")
        #expect(tabbed.notice?.description == "notify.exec (echo ***) says: ***")
    }

    @Test func `output without end does not fill the disk`() async throws {
        try await withTemporaryFolder { (folder: URL) async throws in
            let file = folder.appending(path: "blocks").path
            // What its output takes up, in blocks of 512 bytes, once it wrote for a while.
            let outcome = await run(
                "head -c 300000000 /dev/zero | tr '\\0' 'x'; sleep 0.5; stat -L -c %b /proc/self/fd/2 > \(file)")
            #expect(outcome.isDelivered)
            let blocks = Int(try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .newlines))
            #expect(try #require(blocks) < 10_000)
            #expect(try #require(outcome.notice).description.count < 1200)
        }
    }

    /// It may be a zombie until whoever inherits it looks: that is an end as well.
    private func expectEnd(ofProcessIn file: String) async throws {
        let text = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        let process = try #require(Int32(text))
        try await waitUntil("process \(process) has ended") { !isAlive(process) }
    }

    private func isAlive(_ process: Int32) -> Bool {
        guard kill(process, 0) == 0 else { return false }
        do {
            return try !String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8).contains(") Z ")
        } catch {
            return kill(process, 0) == 0
        }
    }

    // MARK: Webhooks

    private func post(_ server: MisbehavingServer, _ path: String = "/hook/tok3nt0k3n") async -> AlertOutcome {
        await AlertWebhook(address: Secret(server.url(path)), proxies: .none).post(Self.document)
    }

    @Test func `a webhook gets the document by POST`() async throws {
        try await withServer(.always(.text("ok"))) { server in
            let outcome = await post(server)
            #expect(outcome.isDelivered)
            let request = try #require(server.record.requests.first)
            #expect(request.method == "POST")
            #expect(request.header("Content-Type") == "application/json")
            #expect(String(decoding: request.body, as: UTF8.self) == Self.document)
            #expect(server.record.requests.count == 1)
        }
    }

    @Test func `a webhook that asks to wait for longer than anybody waits is told of as what it is`() async throws {
        try await withServer(.always(.text("", status: 503, headers: ["Retry-After": "3000"]))) { server in
            let outcome = await post(server)
            #expect(!outcome.isDelivered)
            #expect(outcome.notice?.description.hasSuffix("it answers with HTTP status 503, and asks to wait") == true)
            #expect(server.record.requests.count == 1)
        }
    }

    @Test func `a webhook that is busy is asked again, and its redirect is not followed`() async throws {
        let script = ServerScript.replies([.text("", status: 503), .text("", status: 204)])
        try await withServer(script) { server in
            #expect(await post(server).isDelivered)
            #expect(server.record.requests.count == 2)
        }
        let redirect = Reply.text("", status: 302, headers: ["Location": "/elsewhere"])
        try await withServer(.always(redirect)) { server in
            #expect(await post(server).notice?.description.contains("HTTP status 302") == true)
            #expect(server.record.requests.count == 1)
        }
    }

    @Test func `a webhook that fails is a notice without its address`() async throws {
        try await withServer(.always(.text("", status: 404))) { server in
            let outcome = await post(server)
            #expect(!outcome.isDelivered)
            let notice = try #require(outcome.notice)
            #expect(notice.description.contains("127.0.0.1"))
            #expect(notice.description.contains("HTTP status 404"))
            #expect(!notice.description.contains("tok3n"))
        }
        try await withRefusingPort { port in
            let gone = Secret("http://127.0.0.1:\(port)/hook/tok3nt0k3n")
            let outcome = await AlertWebhook(address: gone, proxies: .none).post(Self.document)
            #expect(outcome.notice?.description.contains("tried 3 times") == true)
            #expect(outcome.notice?.description.contains("tok3n") == false)
        }
    }

    // MARK: Audiobookshelf

    @Test func `a server beside it is asked to scan its library, with its token`() async throws {
        let script = ServerScript { request in
            request.header("Authorization") == "Bearer abs-token" ? .text("OK") : .text("no", status: 401)
        }
        try await withServer(script) { server in
            var settings = NotifySettings()
            let proxies = ProxyEnvironment([:])
            #expect(AudiobookshelfScan(settings, proxies: proxies) == nil)
            settings.audiobookshelf = "http://127.0.0.1:\(server.port)/abs/"
            #expect(AudiobookshelfScan(settings, proxies: proxies) == nil)
            settings.audiobookshelfLibrary = "lib_1"
            settings.audiobookshelfToken = Secret("abs-token")
            let scan = try #require(AudiobookshelfScan(settings, proxies: proxies))
            #expect(await scan.ask() == nil)
            #expect(server.requests(path: "/abs/api/libraries/lib_1/scan").map(\.method) == ["POST"])
            settings.audiobookshelfToken = Secret("wrong")
            let refused = await AudiobookshelfScan(settings, proxies: proxies)?.ask()
            #expect(
                refused?.description.contains("could not be asked to scan: it answers with HTTP status 401") == true)
            #expect(refused?.description.contains("wrong") == false)
        }
        var summary = RunSummary()
        summary.kept = 5
        #expect(!AudiobookshelfScan.isDue(after: summary))
        summary.renamed = 1
        #expect(AudiobookshelfScan.isDue(after: summary))
    }
}
