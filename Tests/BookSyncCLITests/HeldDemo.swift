import BookSync
import Foundation
import Support
import Testing

/// The demo catalog behind a server that lets its audio through as a test allows.
struct HeldDemo: Sendable {
    /// Of each episode, from wherever it is asked for.
    let tap: Tap
    /// Hears what is asked for.
    let server: MisbehavingServer
    /// In which the product asks it.
    let environment: [String: String]
}

extension Workbench {
    /// Puts the demo catalog behind a tap, and configures it as the only source, under its own name.
    /// - Parameter bytes: what comes of each episode until more is allowed.
    func holdDemo<Result>(
        allowing bytes: Int, isolation: isolated (any Actor)? = #isolation, _ body: (HeldDemo) async throws -> Result
    ) async throws -> Result {
        let tap = Tap(allowing: bytes)
        return try await withProduct(["demo"], in: folder) { demo in
            let address = try #require(URL(string: try await demo.waitForOutput(containing: "http")))
            let origin = try #require(address.port)
            return try await withServer(Self.passing(to: origin, through: tap)) { server in
                try configure(
                    """
                    sources:
                      demo:
                        type: book-resource
                        url: \(server.url("/yyting/bookclient/ClientGetBookResource.action"))
                        detail-url: \(server.url("/yyting/bookclient/ClientGetBookDetail.action"))
                        allow-private-addresses: true
                    """)
                return try await body(HeldDemo(tap: tap, server: server, environment: configured))
            }
        }
    }

    /// Serves the library beside the body, with that source behind it.
    func serveHeld<Result>(
        allowing bytes: Int, environment: [String: String] = [:], isolation: isolated (any Actor)? = #isolation,
        _ body: (ServedShelf, HeldDemo) async throws -> Result
    ) async throws -> Result {
        try await holdDemo(allowing: bytes) { demo in
            try await serve(environment: demo.environment.merging(environment) { $1 }) { try await body($0, demo) }
        }
    }

    /// Asks what it is asked, and answers as it is answered.
    private static func passing(to origin: Int, through tap: Tap) -> ServerScript {
        ServerScript { request in
            let fields = request.headers.filter { $0.name.lowercased() != "connection" }
            let lines = ["\(request.method) \(request.target) HTTP/1.1"] + fields.map { "\($0.name): \($0.value)" }
            let text = (lines + ["Connection: close", "", ""]).joined(separator: "\r\n")
            guard let raw = try? blockingExchange(port: origin, sending: text), let status = raw.status else {
                return .reply(status: 502)
            }
            var reply = Reply.reply(status: status, body: raw.body)
            reply.headers = raw.fields.filter { $0.name.lowercased() != "connection" }
            if raw.fields.contains(where: { $0.name.lowercased() == "content-type" && $0.value.hasPrefix("audio/") }) {
                reply.ending = .heldBy(tap)
            }
            return reply
        }
    }
}
