import BookModel

extension LocalFile {
    /// Records what the disk shows of the file now.
    package mutating func use(_ facts: FileAttributes) {
        (size, modificationTime, inode) = (facts.size, facts.modificationTime, facts.inode)
    }

    /// Whether the file on disk is the one that was recorded, though it may have been touched since. A library that was
    /// copied to another disk has other inodes and the same times; a file that took the place of a deleted one may have
    /// its inode.
    package func isSame(as facts: FileAttributes) -> Bool {
        facts.kind == .file && facts.size == size && (facts.inode == inode || hasTime(of: facts))
    }

    /// Whether a file has the recorded bytes, as one that was copied without its times. Reads it, and blocks meanwhile.
    /// - Parameter path: absolute.
    package func hasContent(at path: String) -> Bool {
        guard case .file(let found)? = FileReader().look(at: path, size: size) else { return false }
        return found.sha256 == sha256
    }
}
