import BookModel

extension JSONDocument {
    /// One line of a run's `--json` output; nil for events that have none.
    ///
    /// - Parameter exitCode: what the run will exit with, for its summary.
    package init?(_ event: SyncEvent, exitCode: Int = 0) {
        switch event {
        case .notice, .alert, .detail, .asking, .reading, .waiting, .renamed: return nil
        case .planned(let plan): self = JSONDocument(plan).event("plan")
        case .started(let progress): self = Self.progress("started", progress)
        case .progressed(let progress): self = Self.progress("progress", progress)
        case .measured(let state): self.init(.advanced(state.run))
        case .advanced(let progress):
            self = [
                "event": "run",
                "episodes_done": .init(progress.episodesDone),
                "episodes_failed": .init(progress.episodesFailed),
                "episodes": .init(progress.episodesInAll),
                "bytes_done": .integer(progress.bytes.bytesDone),
                "bytes": .init(progress.bytes.total),
                "bytes_per_second": .init(progress.bytes.bytesPerSecond),
                "seconds_left": .init(progress.bytes.secondsLeft),
            ]
        case .finished(let receipt):
            self = .naming(receipt.file.episode, section: receipt.section, name: receipt.name)
                .event("finished").adding(["outcome": .string(receipt.outcome.rawValue)])
                .adding(Self.contents(of: receipt.file)).adding([
                    "bytes_received": .integer(receipt.bytesReceived),
                    "bytes_reused": .integer(receipt.bytesReused),
                    "seconds": .number(receipt.seconds),
                    "remarks": .array(receipt.remarks.map { .string($0.description) }),
                ])
        case .adopted(let receipt):
            self = .naming(receipt.file.episode, section: receipt.section, name: receipt.name)
                .event("adopted").adding(Self.contents(of: receipt.file)).adding(["reason": .init(receipt.reason)])
        case .failed(let report):
            self = [
                "event": "failed",
                "source": .init(report.book?.source),
                "book_id": .init(report.book?.id),
                "books": .init(max(report.books.count, report.book == nil ? 0 : 1)),
                "id": .init(report.episode?.key),
                "section": .init(report.section),
                "name": .init(report.name),
                "kind": .string(report.failure.kind.keyword),
                "error": .string(report.failure.description),
            ]
        case .paused(let episode, let name): self = Self.stopped("paused", episode, name)
        case .cancelled(let episode, let name): self = Self.stopped("cancelled", episode, name)
        case .summarised(let summary):
            self = (["event": "summary", "books": .init(summary.books.count)] as JSONDocument)
                .adding(Self.counts(of: summary))
                .adding(["exit_code": .init(exitCode)])
        }
    }

    /// What a run came to, in numbers.
    static func counts(of summary: RunSummary) -> JSONDocument {
        [
            "fetched": .init(summary.fetched),
            "resumed": .init(summary.resumed),
            "replaced": .init(summary.replaced),
            "renamed": .init(summary.renamed),
            "adopted": .init(summary.adopted),
            "kept": .init(summary.kept),
            "locked": .init(summary.locked),
            "failed": .init(summary.failed),
            "held_back": .init(summary.heldBack),
            "paused": .init(summary.paused),
            "removed": .init(summary.removed),
            "expired": .init(summary.expired),
            "gone": .init(summary.gone),
            "filtered": .init(summary.filtered),
            "left": .init(summary.left),
            "bytes_received": .integer(summary.bytesReceived),
            "bytes_reused": .integer(summary.bytesReused),
            "seconds": .number(summary.seconds),
        ]
    }

    private static func contents(of file: LocalFile) -> JSONDocument {
        [
            "path": .string(file.path), "size": .integer(file.size), "sha256": .string(file.sha256),
            "verified": .string(file.verification.rawValue),
        ]
    }

    private static func stopped(_ event: String, _ episode: EpisodeIdentity, _ name: String) -> JSONDocument {
        [
            "event": .string(event), "source": .string(episode.book.source), "book_id": .string(episode.book.id),
            "id": .string(episode.key), "name": .name(name),
        ]
    }

    private static func progress(_ event: String, _ progress: TransferProgress) -> JSONDocument {
        .naming(progress.episode, section: progress.section, name: progress.name).event(event).adding([
            "path": .string(progress.path),
            "bytes_done": .integer(progress.bytesDone),
            "bytes_reused": .integer(progress.bytesReused),
            "size": .init(progress.total),
            "bytes_per_second": .init(progress.bytesPerSecond),
            "seconds_left": .init(progress.bytes.secondsLeft),
        ])
    }
}
