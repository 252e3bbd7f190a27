import BookModel

extension RunSummary {
    /// The last line of a run: `30776 回到古代当兽医: 12 fetched (118.9 MB), 488 kept, 2 locked in 41 s`.
    package var sentence: Message {
        let name: Message =
            switch books.count {
            case 0: "nothing"
            case 1: Message(verbatim: books[0])
            default: "\(books.count) books"
            }
        let failedEpisodes = failed - failedCatalogs - failedOtherwise
        let finished = bytesReceived - bytesUnfinished
        let bytes: Message = finished > 0 ? " (\(describeBytes(finished)))" : ""
        var transferred = Self.counts([
            (fetched, "\(fetched) fetched"), (resumed, "\(resumed) resumed"), (replaced, "\(replaced) replaced"),
        ])
        if transferred.isEmpty, renamed + adopted == 0 { transferred = ["0 fetched"] }
        let parts =
            transferred.prefix(1).map { "\($0)\(bytes)" } + transferred.dropFirst()
            + Self.counts([
                (renamed, "\(renamed) renamed"), (adopted, "\(adopted) adopted"), (kept, "\(kept) kept"),
                (locked, "\(locked) locked"), (failedEpisodes, "\(failedEpisodes) failed"),
                (heldBack, "\(heldBack) held back"),
                (paused, "\(paused) paused"), (removed, "\(removed) removed earlier"), (expired, "\(expired) expired"),
                (gone, "\(gone) gone"),
                (left, "\(left) left for the next run"),
                (bytesUnfinished > 0 ? 1 : 0, "\(describeBytes(bytesUnfinished)) received besides"),
                (failedCatalogs, "\(Message(failedCatalogs, "catalog")) not read"),
            ])
        return "\(name): \(parts.joined(separator: ", ")) in \(describeSeconds(seconds))"
    }

    private static func counts(_ counts: [(count: Int, text: Message)]) -> [Message] {
        counts.filter { $0.count > 0 }.map(\.text)
    }
}
