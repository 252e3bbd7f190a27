/// What one look at a path of the library found, without following symbolic links.
package struct FileAttributes: Sendable, Hashable {
    package enum Kind: String, Sendable {
        case file, folder, symbolicLink, other
    }

    /// Bytes.
    package var size: Int64
    /// Nanoseconds since 1970.
    package var modificationTime: Int64
    package var inode: UInt64
    package var kind: Kind

    package init(size: Int64, modificationTime: Int64, inode: UInt64, kind: Kind) {
        self.size = size
        self.modificationTime = modificationTime
        self.inode = inode
        self.kind = kind
    }
}
