import BookModel
import Foundation
import GRDB

extension CatalogStore {
    /// Has runs do what is asked for. The same is asked for once: it is done after it was asked for last.
    /// - Returns: their ids.
    @discardableResult
    package func ask(_ requests: [StoredRequest], _ durability: Durability = .durable) async throws -> [Int64] {
        guard !requests.isEmpty else { return [] }
        return try await write("what was asked for cannot be recorded", durability) { database in
            var known = Dictionary(grouping: try database.requests(), by: \.asAsked)
            return try requests.map { request in
                for same in known.removeValue(forKey: request) ?? [] { try database.delete(same.id) }
                try database.insert(request)
                return database.lastInsertedRowID
            }
        }
    }

    /// The open requests, the oldest first.
    /// - Parameter all: includes the cancellations for the run under way.
    package func requests(withCancellations all: Bool = false) async throws -> [StoredRequest] {
        try await read("what was asked for cannot be read") { try $0.requests(withCancellations: all) }
    }

    /// Records that they were done. What a power cut takes back of that is found to be done by the next run.
    package func end(_ requests: some Sequence<Int64> & Sendable) async throws {
        let ids = Set(requests)
        guard !ids.isEmpty else { return }
        _ = try await changeRequests(.relaxed) { ids.contains($0.id) ? nil : $0 }
    }

    /// Changes which episodes are asked for, or asks for something no longer.
    /// - Parameters:
    ///   - cancellations: inserted in the same transaction.
    ///   - change: returns the changed request, or nil to delete it.
    /// - Returns: those that went.
    package func changeRequests(
        adding cancellations: [StoredRequest] = [], _ durability: Durability = .durable,
        _ change: @escaping @Sendable (StoredRequest) -> StoredRequest?
    ) async throws -> [StoredRequest] {
        if cancellations.isEmpty, try await requests(withCancellations: true).isEmpty { return [] }
        return try await write("what was asked for cannot be changed", durability) { database in
            var gone: [StoredRequest] = []
            for request in try database.requests() {
                guard let changed = change(request) else {
                    try database.delete(request.id)
                    gone.append(request)
                    continue
                }
                guard changed.filter != request.filter else { continue }
                try database.run(
                    "UPDATE request SET only_sections = ? WHERE id = ?", [changed.filter.only?.description, request.id])
            }
            for cancellation in cancellations { try database.insert(cancellation) }
            return gone
        }
    }
}

extension Database {
    fileprivate func insert(_ request: StoredRequest) throws {
        let row: ColumnValues = [
            ("kind", request.kind.rawValue), ("source", request.book?.source), ("key", request.book?.id),
            ("episode_key", request.episode), ("force", request.force), ("requested_at", stored(Date())),
        ]
        try insert(into: "request", row + request.filter.row)
    }

    fileprivate func delete(_ id: Int64) throws { try run("DELETE FROM request WHERE id = ?", [id]) }

    fileprivate func requests(withCancellations all: Bool = true) throws -> [StoredRequest] {
        let sql = """
            SELECT id, kind, source, key, episode_key, only_sections, latest, "match", "exclude", since, force
            FROM request WHERE ? OR kind <> 'cancel' ORDER BY id
            """
        return try rows(sql, [all]) { columns in
            let (id, kind) = (try columns.next(Int64.self), try word(columns.next()) as StoredRequest.Kind)
            let (source, key) = (try columns.next(String?.self), try columns.next(String?.self))
            let episode = try columns.next(String?.self)
            var request = StoredRequest(
                kind, source.flatMap { source in key.map { BookIdentity(source: source, id: $0) } },
                filter: try EpisodeFilter(&columns), force: try columns.next())
            (request.id, request.episode) = (id, episode)
            return request
        }
    }
}
