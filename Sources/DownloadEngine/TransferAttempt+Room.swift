import BookModel

/// Whether what comes has room in the library, before it is begun and while it grows.
extension TransferAttempt {
    /// What the server declares may be more than the catalog did when the transfer was begun.
    func requireRoom(for rest: Int64) throws {
        guard let missing = try watch.missingRoom(for: rest) else { return }
        throw failure(
            "the server says that \(describeBytes(rest)) are to come, and \(describeBytes(missing)) of room are missing",
            remedy: "make room, or lower downloads.min-free-space")
    }

    /// Looks from time to time whether what comes still has its measure, and the disk its room.
    mutating func watchGrowth(
        by count: Int64, to length: Int64, total: Int64?, of partial: PartialFile
    ) async throws {
        let limit = settings.maxLength(ofUndeclared: wanted.episode)
        if total == nil, length > limit {
            // The limit of the settings may be raised for the next run.
            let isOfSettings = limit >= settings.maxUndeclaredSize
            result.isForGood = !isOfSettings
            try await discard(partial)
            throw failure(
                "the server declares no length, and sent more than \(describeBytes(length - count))",
                remedy: isOfSettings ? "if the file is that large, raise downloads.max-undeclared-size" : nil)
        }
        sinceLook += count
        guard sinceLook >= EngineSettings.lookInterval else { return }
        sinceLook = 0
        // What has no declared end would else take all that there is.
        guard let missing = try watch.missingRoom(for: 0, reserve: total == nil ? 64 << 20 : 0) else { return }
        guard total == nil else {
            throw Failure.lackOfRoom(
                "the library has no room for more", why: "\(describeBytes(missing)) are missing",
                remedy:
                    "make room, or lower downloads.min-free-space, and run again; everything received so far is kept")
        }
        try await discard(partial)
        throw failure(
            "the server declares no length, and the disk has no room for more", remedy: "make room and run again")
    }
}
