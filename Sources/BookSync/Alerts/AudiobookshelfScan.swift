import BookModel
import Settings
import Transport

/// Has an Audiobookshelf server that serves the same folder look at it again (`POST /api/libraries/ID/scan`).
struct AudiobookshelfScan: Sendable {
    private let webhook: AlertWebhook

    /// - Returns: nil where no server is configured.
    init?(_ settings: NotifySettings, proxies: ProxyEnvironment) {
        guard let address = settings.audiobookshelf, let library = settings.audiobookshelfLibrary else { return nil }
        let slashes = address.reversed().prefix { $0 == "/" }.count
        webhook = AlertWebhook(
            address: Secret("\(address.dropLast(slashes))/api/libraries/\(library)/scan"), proxies: proxies,
            token: settings.audiobookshelfToken,
            failing: { _ in "Audiobookshelf at \(address) could not be asked to scan" })
    }

    /// Whether a run changed anything that a scan would find.
    static func isDue(after summary: RunSummary) -> Bool {
        summary.fetched + summary.resumed + summary.replaced + summary.renamed + summary.adopted > 0
    }

    /// - Returns: what went wrong, in a sentence; nil where it scans.
    func ask() async -> Message? { await webhook.post("{}").notice }
}
