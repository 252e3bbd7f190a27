import BookModel
import CatalogStore
import Foundation
import LibraryFiles

/// A run, with how it stands.
package struct ShownRun: Sendable {
    package enum State: String, Sendable {
        case ended
        case underWay = "under_way"
        /// Killed, or the machine went down: what it had received is kept.
        case cutOff = "cut_off"
    }

    package var record: RunRecord
    package var state: State
    /// The name of its library; nil where only one is looked at.
    package var library: String?
}

extension ShelfReader {
    /// The last runs, the newest last.
    package func runs(last count: Int) async throws -> [ShownRun] {
        let records = try await store.runs(last: count)
        let heldSince = try await LibraryLock.owner(in: library)?.startTime
        return records.enumerated().map { index, record in
            // Only the newest can be under way, and only if it is of the process that has the library now.
            let isUnderWay = index == 0 && heldSince.map { $0 <= record.startedAt } == true
            return ShownRun(record: record, state: record.endedAt != nil ? .ended : isUnderWay ? .underWay : .cutOff)
        }.reversed()
    }
}

extension JSONDocument {
    package init(_ run: ShownRun) {
        let record = run.record
        let known: JSONDocument = [
            "id": .integer(record.number),
            "command": .string(record.command),
            "state": .string(run.state.rawValue),
            "started_at": .init(record.startedAt),
            "ended_at": .init(record.endedAt),
            "exit_code": .init(record.exitCode),
            "books": .init(record.books),
            "titles": .array(record.named.map { .string($0.title ?? $0.book.description) }),
        ]
        let counts = Self.counts(of: record.summary)
        // What comes of a run is recorded at its end.
        self = known.adding(record.endedAt == nil ? counts.unknown : counts)
            .adding(["error": .init(record.error?.description)]).adding(run.library)
    }

    /// The members of an object, with no values.
    private var unknown: JSONDocument {
        guard case .object(let members) = self else { return .null }
        return .object(members.map { Member(key: $0.key, value: .null) })
    }
}
