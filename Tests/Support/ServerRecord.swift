import Foundation

/// A request as it came over the wire.
package struct ServerRequest: Sendable {
    package var method: String
    /// Path and query, as sent.
    package var target: String
    /// In order, as sent.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8] = []
    /// Which connection brought it, counted from 0 in the order of acceptance.
    package var connection = 0
    /// How many requests the same connection brought before.
    package var numberOnConnection = 0
    /// How many requests for the same path came before, on any connection.
    package var number = 0

    package var path: String { String(target.prefix { $0 != "?" }) }

    /// The values of the query, percent-decoded; the last one where a name comes twice.
    package var query: [String: String] {
        var values: [String: String] = [:]
        for pair in target.drop(while: { $0 != "?" }).dropFirst().split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            values[name.removingPercentEncoding ?? name] =
                parts.count == 2 ? (String(parts[1]).removingPercentEncoding ?? String(parts[1])) : ""
        }
        return values
    }

    /// The first field of that name.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// Everything that a server saw and did, at one moment.
package struct ServerRecord: Sendable {
    package struct Exchange: Sendable {
        package let request: ServerRequest
        /// Body bytes that the kernel took for this answer; framing and head are not counted.
        package var bodyBytesSent = 0
        /// Whether the server is done with it, whole or cut.
        package var isFinished = false
        var isAnswered = false
    }

    /// In the order of arrival.
    package var exchanges: [Exchange] = []
    package var connectionsAccepted = 0
    package var connectionsOpen = 0
    /// Requests under way at once, at most: from their arrival until their last bytes go out.
    package var maximumConcurrentRequests = 0
    var concurrentRequests = 0
    var isAccepting = true
    var listenerIsClosed = false

    package var requests: [ServerRequest] { exchanges.map(\.request) }

    package func requests(path: String) -> [ServerRequest] {
        requests.filter { $0.path == path }
    }

    package func exchanges(path: String) -> [Exchange] {
        exchanges.filter { $0.request.path == path }
    }

    /// Over all requests for the path.
    package func bodyBytesSent(path: String) -> Int {
        exchanges.reduce(0) { $0 + ($1.request.path == path ? $1.bodyBytesSent : 0) }
    }

    package var bodyBytesSent: Int { exchanges.reduce(0) { $0 + $1.bodyBytesSent } }

    /// Notes a request that has arrived whole.
    /// - Returns: the request with its number among those for its path, and where its exchange is kept.
    mutating func began(_ request: ServerRequest) -> (ServerRequest, Int) {
        var request = request
        request.number = exchanges.reduce(0) { $0 + ($1.request.path == request.path ? 1 : 0) }
        exchanges.append(Exchange(request: request))
        concurrentRequests += 1
        maximumConcurrentRequests = max(maximumConcurrentRequests, concurrentRequests)
        return (request, exchanges.count - 1)
    }

    /// Notes that the last bytes are about to go out: from then on the client may well be at its next request, which
    /// must not be taken for a concurrent one.
    mutating func answered(_ exchange: Int) {
        if !exchanges[exchange].isAnswered { concurrentRequests -= 1 }
        exchanges[exchange].isAnswered = true
    }

    mutating func finished(_ exchange: Int) {
        answered(exchange)
        exchanges[exchange].isFinished = true
    }
}
