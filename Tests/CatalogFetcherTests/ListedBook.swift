import BookModel
import Foundation
import Logging
import Synchronization
import Transport

@testable import CatalogFetcher

/// What a listing brought, with what it waited.
struct ListedBook: Sendable {
    var pages: [CatalogPage]
    var listing: CatalogListing
    var waits: [Duration]
    /// The seconds of each wait that was told of.
    var told: [Double] = []

    var episodes: [Episode] { pages.flatMap(\.episodes) }
    var warnings: String { listing.proof.warnings.map(\.description).joined(separator: "\n") }
}

/// Waits that are written down and take no time.
final class RecordedWaits: Sendable {
    private let waits = Mutex<[Duration]>([])
    let told = Mutex<[Double]>([])

    var all: [Duration] { waits.withLock { $0 } }

    func pause(_ duration: Duration) async throws { waits.withLock { $0.append(duration) } }
}

extension BookResourceSettings {
    /// The catalog of a scripted server.
    init(_ address: String, pageSize: Int = 50) {
        self.init(
            listAddress: ResourceAddress(address + "/yyting/bookclient/ClientGetBookResource.action"),
            pageSize: pageSize)
    }
}

@discardableResult
func withSource<Result: Sendable>(
    _ settings: BookResourceSettings, waits: RecordedWaits = RecordedWaits(), retries: Int = 3,
    ceiling: ListingProgress.Ceiling = .init(), maxResponseBytes: Int = 256 << 20,
    _ body: (BookResourceSource) async throws -> Result
) async throws -> Result {
    let options = TransportOptions(connectTimeout: 60, stallTimeout: 60)
    return try await withHTTPTransport(options: options, logger: Logger(label: "test")) { transport in
        try await body(
            BookResourceSource(
                settings: settings,
                client: CatalogClient(
                    transport: transport, retry: RetryPolicy(retries: retries), maxResponseBytes: maxResponseBytes,
                    onWait: { wait in if let wait { waits.told.withLock { $0.append(wait.seconds) } } },
                    pause: { try await waits.pause($0) }),
                ceiling: ceiling))
    }
}

let testBook = BookIdentity(source: "kting", id: "30776")

func listBook(
    _ book: BookIdentity = testBook, settings: BookResourceSettings, retries: Int = 3,
    ceiling: ListingProgress.Ceiling = .init(), maxResponseBytes: Int = 256 << 20
) async throws -> ListedBook {
    let waits = RecordedWaits()
    return try await withSource(
        settings, waits: waits, retries: retries, ceiling: ceiling, maxResponseBytes: maxResponseBytes
    ) { source in
        var pages: [CatalogPage] = []
        let listing = try await source.list(book) { pages.append($0) }
        return ListedBook(pages: pages, listing: listing, waits: waits.all, told: waits.told.withLock(\.self))
    }
}

/// Lists from a script and expects it to fail.
func failure(
    token: String? = nil, maxResponseBytes: Int = 256 << 20,
    _ script: @escaping @Sendable (RecordedRequest, Int) -> ScriptedAnswer
) async throws -> (Failure, requests: Int) {
    try await ScriptedServer.run(script) { server, address in
        var settings = BookResourceSettings(address)
        settings.credentials.query = token.map { [("token", $0)] } ?? []
        do {
            _ = try await listBook(settings: settings, maxResponseBytes: maxResponseBytes)
        } catch let failure as Failure {
            return (failure, server.requests.count)
        }
        throw NoFailure()
    }
}

struct NoFailure: Error {}

/// Answers in the wire format, as small as they can be.
enum WirePage {
    static func json(_ ids: some Sequence<Int>, sections: Int? = nil) -> String {
        let elements = ids.map {
            #"{"id":\#($0),"section":\#($0),"name":"第\#($0)集_书名","path":"http:\/\/audio.example\/\#($0).mp3"}"#
        }
        let declared = sections.map { #","sections":\#($0)"# } ?? ""
        return #"{"list":["# + elements.joined(separator: ",") + "]" + declared + #","status":0,"msg":null}"#
    }

    /// The page that a request asks for, of episodes 1 to `count`.
    static func of(_ count: Int, for request: RecordedRequest, size: Int? = nil, sections: Int? = nil) -> ScriptedAnswer
    {
        let size = size ?? request.query["pageSize"].flatMap { Int($0) } ?? 50
        let first = (request.page - 1) * size + 1
        return ScriptedAnswer(
            json(first <= count ? Array(first...min(first + size - 1, count)) : [], sections: sections))
    }
}
