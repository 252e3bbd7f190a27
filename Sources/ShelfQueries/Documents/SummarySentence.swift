import BookModel

extension RunSummary {
    /// The last line of a run: `30776 回到古代当兽医: 12 fetched (118.9 MB), 488 kept, 2 locked in 41 s`.
    package var sentence: String {
        let name =
            switch books.count {
            case 0: "nothing"
            case 1: books[0]
            default: "\(books.count) books"
            }
        let bytes = bytesReceived > 0 ? " (\(describeBytes(bytesReceived)))" : ""
        var transferred = [(fetched, "fetched"), (resumed, "resumed"), (replaced, "replaced")].filter { $0.0 > 0 }
            .map { "\($0.0) \($0.1)" }
        if transferred.isEmpty, renamed + adopted == 0 { transferred = ["0 fetched"] }
        var parts = transferred.prefix(1).map { $0 + bytes } + transferred.dropFirst()
        for (count, word) in [
            (renamed, "renamed"), (adopted, "adopted"), (kept, "kept"),
            (locked, "locked"), (failed, "failed"), (heldBack, "held back"), (paused, "paused"), (removed, "removed"),
            (gone, "gone"), (left, "left for the next run"),
        ] where count > 0 {
            parts.append("\(count) \(word)")
        }
        return "\(name): \(parts.joined(separator: ", ")) in \(describeSeconds(seconds))"
    }
}
