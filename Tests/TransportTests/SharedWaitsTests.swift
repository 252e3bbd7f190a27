import BookModel
import Foundation
import Logging
import NIOHTTP1
import Support
import Testing

@testable import Transport

@Suite(.limitedConcurrency) struct SharedWaitsTests {
    /// What each of two workers, that share a folder, gets from a server that asks to be left alone, and how often it was asked.
    private func answers(retryAfter: String?, in folder: String) async throws -> (kinds: [String], requests: Int) {
        let busy = Reply.text("", status: 429, headers: retryAfter.map { ["Retry-After": $0] } ?? [:])
        return try await withServer(.paths(["/a": .replies([busy, .text("audio")])])) { server in
            var options = TransportOptions()
            options.sharedWaits = folder
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            return try await withHTTPTransport(options: options, logger: logger) { one in
                try await withHTTPTransport(options: options, logger: logger) { other in
                    var kinds: [String] = []
                    for transport in [one, other, one] {
                        do {
                            kinds.append("\(try await transport.send(HTTPRequest(.get, server.address("/a"))).status)")
                        } catch let error as TransportError {
                            guard case .askedToWait(let seconds) = error.kind else { throw error }
                            #expect(error.disposition == .retry && error.requestedWait == seconds)
                            kinds.append(seconds > 50 ? "wait" : "\(seconds)")
                        }
                    }
                    return (kinds, server.record.exchanges.count)
                }
            }
        }
    }

    @Test func `what a server asks of one worker the other does, too, and the first one counts by itself`() async throws
    {
        try await withTemporaryPath { folder in
            let (kinds, requests) = try await answers(retryAfter: "3600", in: folder + "/waits")
            #expect(kinds == ["429", "wait", "200"] && requests == 2)
        }
    }

    @Test func `a server that does not say how long binds nobody else`() async throws {
        try await withTemporaryPath { folder in
            let (kinds, requests) = try await answers(retryAfter: nil, in: folder)
            #expect(kinds == ["429", "200", "200"] && requests == 3)
        }
    }

    @Test func `where the folder cannot be had, each worker asks the server`() async throws {
        try await withTemporaryPath { folder in
            try Data().write(to: URL(fileURLWithPath: folder + "/file"))
            let (kinds, _) = try await answers(retryAfter: "3600", in: folder + "/file/waits")
            #expect(kinds == ["429", "200", "200"])
        }
    }
}
