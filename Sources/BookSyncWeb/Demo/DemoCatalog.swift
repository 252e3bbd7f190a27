import BookModel
import Hummingbird
import Logging
import NIOCore

/// A book-resource server inside the binary, with two books to try booksync on: see `Fixtures/demo/README.md`.
package struct DemoCatalog: Sendable {
    /// The id of the book that `fetch` uses in the examples: 112 episodes, of which 2 are locked.
    package static let book = "30776"

    /// Bytes a second for the audio on each connection, in pieces of at most 4 KiB; nil without limit. For tests that
    /// kill booksync in the middle of something.
    package let pace: Int?
    private let logger: Logger

    /// - Parameter logger: What goes wrong in the server; by default hardly anything: even the cancellation that ends the
    ///   server is an error to Hummingbird's log.
    package init(pace: Int? = nil, logger: Logger? = nil) {
        self.pace = pace
        var quiet = Logger(label: "booksync.demo")
        quiet.logLevel = .critical
        self.logger = logger ?? quiet
    }

    /// Where a source's `url` points, on a server at that address.
    package static func catalogURL(at address: ListenAddress) -> String {
        address.url + "/yyting/bookclient/ClientGetBookResource.action"
    }

    /// Where a source's `detail-url` points.
    package static func detailURL(at address: ListenAddress) -> String {
        address.url + "/yyting/bookclient/ClientGetBookDetail.action"
    }

    /// Serves until the task is cancelled, and returns then, with every connection closed.
    /// - Parameter onRunning: Told the address with the port that was bound, as soon as requests are answered.
    /// - Throws: ``Failure`` of kind `inputOutput` when the address cannot be listened on.
    package func run(
        listen: ListenAddress = .loopback, onRunning: @escaping @Sendable (ListenAddress) async -> Void
    ) async throws {
        let application = Application(
            responder: DemoResponder(pace: pace),
            configuration: ApplicationConfiguration(address: .hostname(listen.host, port: listen.port)),
            onServerRunning: { channel in
                await onRunning(ListenAddress(host: listen.host, port: channel.localAddress?.port ?? listen.port))
            },
            logger: logger)
        do {
            try await application.run()
        } catch is CancellationError {
            return
        } catch {
            throw Failure.cannotListen(on: listen.description, error)
        }
    }
}

/// Serves the demo catalog for as long as the body takes, and closes everything after it.
/// - Parameters:
///   - listen: Port 0 means any free one.
///   - pace: As ``DemoCatalog/pace``.
///   - body: Given the address with the port that was bound.
package func withDemoCatalog<Answer: Sendable>(
    listen: ListenAddress = .loopback, pace: Int? = nil, isolation: isolated (any Actor)? = #isolation,
    _ body: (ListenAddress) async throws -> Answer
) async throws -> Answer {
    let (addresses, running) = AsyncStream.makeStream(of: ListenAddress.self)
    return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            defer { running.finish() }
            try await DemoCatalog(pace: pace).run(listen: listen) { running.yield($0) }
        }
        // The group waits for the server when this closure is left, whichever way.
        defer { group.cancelAll() }
        guard let address = await addresses.first(where: { _ in true }) else {
            try await group.next()
            throw CancellationError()
        }
        return try await body(address)
    }
}
