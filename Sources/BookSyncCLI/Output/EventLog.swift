import BookModel
import BookSync
import Logging

/// Tells the log what a run tells its user: fixed messages, with what they are about beside them.
struct EventLog: Sendable {
    let logger: Logger

    func record(_ event: SyncEvent) {
        switch event {
        case .notice(let text), .alert(let text): logger.notice("notice", metadata: ["text": "\(text)"])
        case .planned(let plan):
            let totals = plan.totals
            logger.info(
                "planned",
                metadata: [
                    "book": "\(plan.book.identity)", "title": "\(plan.book.title)", "fetch": "\(totals.fetch)",
                    "resume": "\(totals.resume)", "replace": "\(totals.replace)", "rename": "\(totals.rename)",
                    "adopt": "\(totals.adopt)", "keep": "\(totals.keep)", "expire": "\(totals.expire)",
                    "skip": "\(totals.skip)",
                    "locked": "\(totals.skip(.locked))", "bytes": "\(totals.bytes)",
                ])
        case .started(let progress):
            logger.info("transfer begun", metadata: ["episode": "\(progress.episode)", "name": "\(progress.name)"])
        case .detail, .progressed, .advanced, .measured, .asking, .reading, .waiting: break
        case .renamed(let episode, let from, let to):
            logger.info("file renamed", metadata: ["episode": "\(episode)", "from": "\(from)", "path": "\(to)"])
        case .finished(let receipt):
            logger.info(
                "file in its place",
                metadata: [
                    "episode": "\(receipt.file.episode)", "outcome": "\(receipt.outcome.rawValue)",
                    "path": "\(receipt.file.path)", "size": "\(receipt.file.size)", "sha256": "\(receipt.file.sha256)",
                    "bytes_received": "\(receipt.bytesReceived)", "bytes_reused": "\(receipt.bytesReused)",
                    "seconds": "\(receipt.seconds)",
                ])
        case .adopted(let receipt):
            logger.info(
                "file recognised",
                metadata: [
                    "episode": "\(receipt.file.episode)", "path": "\(receipt.file.path)", "why": "\(receipt.reason)",
                ])
        case .failed(let report):
            logger.error(
                "failed",
                metadata: [
                    "book": "\(report.book?.description ?? "")",
                    "episode": "\(report.episode?.description ?? "")", "kind": "\(report.failure.kind.keyword)",
                    "error": "\(report.failure)",
                ])
        case .paused(let episode, let name):
            logger.info("transfer paused", metadata: ["episode": "\(episode)", "name": "\(name)"])
        case .cancelled(let episode, let name):
            logger.info("transfer cancelled", metadata: ["episode": "\(episode)", "name": "\(name)"])
        case .summarised(let summary): logger.info("run ended", metadata: ["summary": "\(summary.sentence)"])
        }
    }
}
