import BookModel
import Foundation
import Logging
import Settings
import Transport

/// Posts a document to an address. Such addresses are secrets: nothing of one but its host is ever told.
struct AlertWebhook: Sendable {
    let address: Secret
    let proxies: ProxyEnvironment
    /// Goes with it as `Authorization: Bearer`, to the address's own server alone.
    var token: Secret?
    /// What could not be done, for its host.
    var failing: @Sendable (_ host: String) -> Message = { "the alert could not be posted to \($0)" }

    /// Seconds for all tries together.
    private static let limit = 30.0
    private static let retry = RetryPolicy(retries: 2, firstWait: 1)
    /// Bytes of an answer that are read, so that the server sees it taken.
    private static let maxResponseBytes = 65_536

    func post(_ document: String) async -> AlertOutcome {
        do {
            let trouble = try await limited(to: Self.limit) {
                try await withHTTPTransport(
                    options: TransportOptions(connectTimeout: 5, stallTimeout: 10, proxies: proxies), logger: .silent
                ) { try await post(document, over: $0) }
            }
            switch trouble {
            case .some(nil): return AlertOutcome(isDelivered: true)
            case .some(let why?): return failed(why)
            case nil: return failed("it did not answer within \(Int(Self.limit)) s")
            }
        } catch is CancellationError {
            return failed("the run was interrupted")
        } catch {
            return failed("\(error)")
        }
    }

    private func failed(_ why: Message) -> AlertOutcome {
        let text = why.description
        let why =
            text.contains(address.secretText) ? Message(verbatim: text.replacing(address.secretText, with: "***")) : why
        return AlertOutcome(isDelivered: false, notice: "\(failing(Masking.webhook(address))): \(why)")
    }

    /// - Returns: why it was not taken; nil when it was.
    private func post(_ document: String, over transport: HTTPTransport) async throws -> Message? {
        let request = HTTPRequest.post(json: document, to: ResourceAddress(address.secretText), token: token)
        var failures = 0
        while true {
            let why: Message
            var requested: Double?
            do {
                let answer = try await transport.send(request)
                if (200..<300).contains(answer.status) {
                    _ = try await answer.collect(upTo: Self.maxResponseBytes)
                    return nil
                }
                why = "it answers with HTTP status \(answer.status)"
                guard answer.status >= 500 || [408, 429].contains(answer.status) else { return why }
                requested = answer.requestedWait(now: Date().timeIntervalSince1970)
                if let requested, requested >= Self.limit { return "\(why), and asks to wait" }
            } catch let failure as TransportError {
                // It was taken, whatever became of the answer's text.
                if case .oversized = failure.kind { return nil }
                why = failure.why
                guard failure.disposition == .retry else { return why }
            }
            failures += 1
            guard let wait = Self.retry.wait(afterFailures: failures, random: .random(in: 0..<1)) else {
                return "\(why) (tried \(failures) times)"
            }
            try await Task.sleep(for: .seconds(max(wait, requested ?? 0)))
        }
    }
}

extension Logger {
    /// Requests to a secret address leave no trace.
    fileprivate static let silent = Logger(label: "booksync.alert") { _ in SwiftLogNoOpLogHandler() }
}
