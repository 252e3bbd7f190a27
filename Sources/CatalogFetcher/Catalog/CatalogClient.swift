import BookModel
import Foundation
import NIOCore
import NIOHTTP1
import Transport

/// Asks a catalog over HTTP until there is an answer that can be read, or a reason to stop asking.
package struct CatalogClient: Sendable {
    private let transport: HTTPTransport
    private let retry: RetryPolicy
    /// Waits between requests and before retries.
    private let pause: @Sendable (Duration) async throws -> Void
    /// Bytes of one answer that are read at most.
    private(set) var maxResponseBytes: Int
    /// Of everything that asks the same server at the same time; nil where only one does.
    let pace: HostThrottle?
    /// Hears why, and for how many seconds, nothing is asked; nil when the catalog is asked again.
    package typealias OnWait = @Sendable ((reason: Message, seconds: Double)?) -> Void
    private let onWait: OnWait

    package init(
        transport: HTTPTransport, retry: RetryPolicy = RetryPolicy(), pace: HostThrottle? = nil,
        maxResponseBytes: Int = 256 << 20, onWait: @escaping OnWait = { _ in },
        pause: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.transport = transport
        self.retry = retry
        self.pace = pace
        self.maxResponseBytes = maxResponseBytes
        self.onWait = onWait
        self.pause = pause
    }

    /// The same client, which reads no more bytes of one answer.
    package func limited(to maxResponseBytes: Int) -> CatalogClient {
        var client = self
        client.maxResponseBytes = maxResponseBytes
        return client
    }

    /// What a reader makes of the bytes of an answer.
    package enum Reading<Document> {
        case document(Document)
        /// The bytes end in the middle: it may be that the connection was cut.
        case cutShort(why: Message)
        case unreadable(why: Message)
    }

    /// - Returns: what `read` makes of the answer, and the address that it came from in the end.
    /// - Throws: ``Failure``; `CancellationError`.
    package func fetch<Document>(
        _ request: HTTPRequest, for subject: ErrorContext, read: ([UInt8]) -> Reading<Document>
    ) async throws -> (document: Document, address: ResourceAddress) {
        try await fetch(request, for: subject, receive: { read(try await collect($0)) })
    }

    /// - Parameter receive: reads the body of an answer as it arrives; it is called again when that failed and the request
    ///   is sent again. An answer 304 or 412 is handed to it where the request has conditions.
    /// - Returns: what `receive` makes of the answer, and the address that it came from in the end.
    /// - Throws: ``Failure``; `CancellationError`.
    func fetch<Document>(
        _ request: HTTPRequest, for subject: ErrorContext,
        receive: (HTTPResponse) async throws -> Reading<Document>
    ) async throws -> (document: Document, address: ResourceAddress) {
        var failures = 0
        while true {
            if !transport.knowsAnswer(to: request), let seconds = await pace?.secondsClosed {
                throw subject.closed(at: request.address, for: seconds, why: "it is asked nothing more")
            }
            if let wait = await pace?.takeTurn(), wait > .zero {
                try await pause(wait / .seconds(1), because: "the server asks for a pause")
            }
            let retryReason: RetryReason
            do {
                let answer = try await transport.send(request)
                // Asked for only if it has changed (RFC 9110 §13.1).
                let isOfCondition =
                    [304, 412].contains(answer.status)
                    && ["If-None-Match", "If-Modified-Since"].contains(where: request.headers.contains(name:))
                if !isOfCondition, let refusal = try judge(answer, to: request, for: subject) {
                    retryReason = refusal
                } else {
                    switch try await receive(answer) {
                    case .document(let document): return (document, answer.address)
                    case .unreadable(let why): throw subject.unreadable(why: why)
                    case .cutShort(let why):
                        // Where the length was declared, the transport would have told of a cut.
                        guard !answer.declaresLength else { throw subject.unreadable(why: why) }
                        retryReason = RetryReason(why: "the answer ends too early")
                    }
                }
            } catch let failure as TransportError {
                retryReason = try judge(failure, for: subject)
            }
            if let seconds = retryReason.requestedWait, seconds > RetryPolicy.longestRequestedWait {
                await pace?.close(for: seconds)
                throw subject.closed(at: request.address, for: seconds, why: retryReason.why)
            }
            failures += 1
            guard let wait = retry.wait(afterFailures: failures, random: Double.random(in: 0..<1)) else {
                let why = retryReason.why
                throw subject.unavailable(
                    at: request.address, why: failures == 1 ? why : "\(why) (tried \(failures) times)")
            }
            if let requested = retryReason.requestedWait { await pace?.hold(for: requested) }
            try await pause(max(wait, retryReason.requestedWait ?? 0), because: retryReason.why)
        }
    }

    /// Asks nothing for so many seconds, and tells why.
    func pause(_ seconds: Double, because reason: Message) async throws {
        onWait((reason, seconds))
        try await pause(.milliseconds(Int64(seconds * 1000)))
        onWait(nil)
    }

    /// Why it did not work this time.
    private struct RetryReason {
        var why: Message
        /// Seconds that the server asks to wait.
        var requestedWait: Double?
    }

    private func judge(_ failure: TransportError, for subject: ErrorContext) throws -> RetryReason {
        switch failure.kind {
        case .oversized(let limit): throw oversized(limit: limit, for: subject)
        case .coded: throw subject.unreadable(why: failure.why)
        case .badAddress: throw subject.badAddress(failure.address)
        // It would keep the other books waiting as long again.
        case .tooSlow, .overtime: throw subject.unavailable(at: failure.address, why: failure.why)
        default:
            guard failure.disposition == .retry else {
                throw subject.unavailable(
                    at: failure.address, why: failure.why, remedy: failure.remedy ?? "check the address")
            }
            return RetryReason(why: failure.why, requestedWait: failure.requestedWait)
        }
    }

    /// - Returns: nil when the answer is one to be read; the trouble when it may be better another time.
    private func judge(
        _ answer: HTTPResponse, to request: HTTPRequest, for subject: ErrorContext
    ) throws -> RetryReason? {
        let why: Message = "it answers with HTTP status \(answer.status)"
        switch answer.status {
        case 200..<300: return nil
        case 401 where !transport.sentCredentials(with: request, to: answer): throw subject.credentialsWanted(why: why)
        case 401: throw subject.credentialsRejected(why: why)
        case 403 where transport.sentCredentials(with: request, to: answer): throw subject.credentialsRejected(why: why)
        case 403, 406:
            throw subject.unavailable(
                at: answer.address, why: why,
                remedy: "check the address; if the server refuses programs, set user-agent for the source",
                disposition: .skip)
        case 404, 410: throw subject.unknownBook(why: why)
        case 408, 429, 500..<600:
            return RetryReason(why: why, requestedWait: answer.requestedWait(now: Date().timeIntervalSince1970))
        default:
            throw subject.unavailable(
                at: answer.address, why: why, remedy: "check the address and the query", disposition: .skip)
        }
    }

    private func collect(_ answer: HTTPResponse) async throws -> [UInt8] {
        Array(try await answer.collect(upTo: maxResponseBytes).readableBytesView)
    }

    func oversized(limit: Int, for subject: ErrorContext) -> Failure {
        subject.unreadable(why: "the answer is longer than \(describeBytes(Int64(limit)))")
    }
}

extension CatalogClient {
    /// Asks for a JSON document.
    package func fetchJSON(
        _ request: HTTPRequest, for subject: ErrorContext, secrets: SecretMask
    ) async throws -> (document: JSONValue, address: ResourceAddress) {
        try await fetch(request, for: subject) { bytes in
            do throws(JSONFailure) {
                return .document(try JSONReader.read(bytes))
            } catch {
                let why = Self.complaint(about: bytes, error, secrets: secrets)
                return error.offset >= bytes.count ? .cutShort(why: why) : .unreadable(why: why)
            }
        }
    }

    static func complaint(about bytes: [UInt8], _ failure: JSONFailure, secrets: SecretMask) -> Message {
        let quoted = secrets.quotation(bytes)
        if quoted.isEmpty { return "the answer is empty" }
        if quoted.hasPrefix("<") { return "the answer is HTML or XML and no JSON: '\(quoted)'" }
        return "the answer is no proper JSON (\(failure)): '\(quoted)'"
    }
}

extension HTTPResponse {
    /// Whether the head says where the body ends; otherwise it ends with the connection, however that ends.
    var declaresLength: Bool { first("Content-Length") != nil || first("Transfer-Encoding") != nil }
}
