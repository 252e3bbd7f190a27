import CFileSystem

/// What a file says of itself beside its bytes: it goes where the file goes, also with `cp -a` and `rsync -X`. Not every
/// filesystem keeps such attributes.
package enum ExtendedAttribute: String, CaseIterable {
    /// Source, book and key of the episode that was published, as a JSON array.
    case episode = "user.booksync.episode"
    case sha256 = "user.booksync.sha256"
    case address = "user.booksync.address"
    /// Of a file with embedded tags: what it was, as ``FileMark/Original`` writes it.
    case original = "user.booksync.original"
    /// Of a partial file: which answer its bytes are of.
    case origin = "user.booksync.origin"
    /// Of a partial file that several connections write to: which of its bytes are there.
    case parts = "user.booksync.parts"

    /// - Returns: whether the filesystem keeps it.
    @discardableResult
    package func set(to value: String, of descriptor: CInt) -> Bool {
        var value = value
        return value.withUTF8 { booksync_set_attribute(descriptor, rawValue, $0.baseAddress, $0.count) == 0 }
    }

    package func value(of descriptor: CInt) -> String? {
        let size = booksync_get_attribute(descriptor, rawValue, nil, 0)
        guard size > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: size)
        guard booksync_get_attribute(descriptor, rawValue, &bytes, size) == size else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    package func remove(from descriptor: CInt) {
        _ = booksync_remove_attribute(descriptor, rawValue)
    }
}
