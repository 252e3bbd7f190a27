import BookModel

extension TransferRecord {
    /// How many bytes of a partial file a transfer goes on from.
    ///
    /// Since the machine was booted the whole file is good, after another boot what was synced and committed; and only
    /// bytes whose sameness a server can be asked about (or a digest will prove) are gone on from.
    ///
    /// - Parameters:
    ///   - length: of the partial file.
    ///   - hasDigest: whether the catalog gives a digest of the whole.
    ///   - bootID: of the machine, now.
    package func resumableBytes(ofPartialFile length: Int64, hasDigest: Bool, bootID: String?) -> Int64 {
        var length = length
        if bootID == nil || self.bootID != bootID { length = min(length, committedLength) }
        // Of a file that several connections wrote to, whose parts nobody knows any more: see ``PartialNote``.
        if let total, length == total + 1 { length = committedLength }
        if length == total { return length }
        let existing = PartialContent(length: length, validator: validator, total: total)
        return RangeRequest.whatIsMissing(from: existing, promised: PromisedContent(hasDigest: hasDigest)).first
    }
}
