import BookSync
import Foundation
import Support
import Testing

/// A running `booksync serve`, asked byte by byte: no client's opinion stands between.
struct ServedShelf {
    struct Answer {
        let status: Int
        /// Names in lower case.
        let fields: [String: String]
        let body: [UInt8]
        /// How long it took; a test with many others beside it may learn of it later.
        let duration: Duration

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    let product: RunningProduct
    /// As it was printed.
    let address: String
    let port: Int

    /// - Parameters:
    ///   - host: nil for the server's own name, "" for none.
    ///   - fields: `Name: value`
    ///   - client: the last number of the client's own address.
    func send(
        _ path: String, method: String = "GET", _ fields: [String] = [], host: String? = nil, body: String = "",
        from client: UInt8 = 0
    ) async throws -> Answer {
        let host = host ?? "127.0.0.1:\(port)"
        let lines = ["\(method) \(path) HTTP/1.1"] + (host.isEmpty ? [] : ["Host: \(host)"]) + fields
        let request = (lines + ["Connection: close", "", body]).joined(separator: "\r\n")
        return try Self.read(try await rawExchange(port: port, sending: request, from: client), path)
    }

    /// - Parameter name: to tell it from others.
    static func read(_ raw: RawAnswer, _ name: String) throws -> Answer {
        let status = try #require(raw.status, "\(name)")
        let pairs = raw.fields.map { ($0.name.lowercased(), $0.value) }
        return Answer(
            status: status, fields: Dictionary(pairs) { $0 + ", " + $1 }, body: raw.body, duration: raw.duration)
    }

    /// The server still answers, and did not grow.
    /// - Parameter path: of something that is given to anybody.
    func expectWell(_ path: String) async throws {
        let answer = try await send(path)
        #expect(answer.status == 200)
        #if os(Linux)
            #expect(try #require(try product.maxMemory) < 300 << 20)
        #endif
    }
}

extension Workbench {
    /// Serves the library beside the body.
    /// - Parameter library: nil for all that the configuration names.
    @discardableResult
    func serve<Result>(
        _ arguments: String..., port: Int = 0, library: String? = "L", environment: [String: String] = [:],
        isolation: isolated (any Actor)? = #isolation, _ body: (ServedShelf) async throws -> Result
    ) async throws -> Result {
        let all = ["serve", "--listen", "127.0.0.1:\(port)"] + (library.map { ["--library", $0] } ?? []) + arguments
        return try await withProduct(all, environment: environment, in: folder) { product in
            let address = try await product.waitForOutput(containing: "http")
            try await product.waitForErrors(containing: "Ctrl-C ends it")
            // Behind a public address the port is not to be told from what is printed.
            let port = address.split(separator: ":").last.flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
            return try await body(ServedShelf(product: product, address: address, port: port))
        }
    }

    /// The same with the short book of the demo catalog on the shelf.
    func serveShortBook<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (ServedShelf) async throws -> Result
    ) async throws -> Result {
        let fetched = try await run("fetch", "40111", "-q")
        try #require(fetched.exitCode == 0, "\(fetched.errors)")
        return try await serve(isolation: isolation, body)
    }
}
