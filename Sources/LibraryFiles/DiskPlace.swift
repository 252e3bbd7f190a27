import Foundation

/// On which disk a folder lies, as far as anybody can tell: where it is mounted, and the filesystem's own id.
struct DiskPlace: Hashable, Codable, Sendable {
    /// Absolute, without symbolic links.
    var mountPoint: String
    /// Decimal. Most filesystems keep theirs for life; some get another with each mount.
    var filesystem: String

    /// Of a folder, or of where it would be made. Blocks on the disk.
    init(of path: String) throws(SystemError) {
        var folder = try Self.nearestFolder(to: path)
        var facts = statvfs()
        try systemCall { statvfs(folder, &facts) }
        filesystem = "\(facts.f_fsid)"
        let device = try Self.device(of: folder)
        while folder != "/" {
            let parent = Self.parent(of: folder)
            guard try Self.device(of: parent) == device else { break }
            folder = parent
        }
        mountPoint = folder
    }

    private static func nearestFolder(to path: String) throws(SystemError) -> String {
        var path = path
        while true {
            if let real = realpath(path, nil) {
                defer { free(real) }
                return String(cString: real)
            }
            let error = SystemError.last
            guard error.code == ENOENT, path.hasPrefix("/"), path != "/" else { throw error }
            path = parent(of: path)
        }
    }

    private static func device(of path: String) throws(SystemError) -> dev_t {
        var status = stat()
        try systemCall { stat(path, &status) }
        return status.st_dev
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}

/// Whether two folders, or where they would be made, are on one filesystem. Blocks on the disk.
package func isOneFilesystem(_ one: String, _ other: String) throws -> Bool {
    try DiskPlace(of: one) == DiskPlace(of: other)
}
