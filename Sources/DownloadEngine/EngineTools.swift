import BookModel
import Logging
import Transport

/// What a run of the engine works with.
struct EngineTools: Sendable {
    let transport: HTTPTransport
    let journal: any TransferJournal
    let partialFolder: String
    let settings: EngineSettings
    let rates: TransferRates
    let watch: DiskGuard
    let publisher: Publisher
    let threads = EngineThreads()
    let makeRoom: @Sendable (Int64) async -> Bool
    let objection: @Sendable (String, Episode) async -> Message?
    let emit: @Sendable (SyncEvent) -> Void
    let logger: Logger
}
