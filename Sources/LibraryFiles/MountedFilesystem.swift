import Foundation

/// The filesystem that a path lies on, as the kernel lists it.
package struct MountedFilesystem: Sendable, Hashable {
    /// As in `ext4`, `nfs4`.
    package var kind: String
    /// Those of the filesystem itself, as in `local_lock=none`.
    var options: Set<String>

    /// Filesystems that other machines may have mounted at the same time, as the kernel or FUSE names them. Those in user space that
    /// only rearrange local disks are none of them.
    private static let sharedKinds: Set = [
        "nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "ceph", "lustre", "gpfs", "beegfs", "ocfs2", "gfs2", "afs",
        "orangefs",
        "fuse.ceph", "fuse.ceph-fuse", "fuse.glusterfs", "fuse.mfs", "fuse.moosefs", "fuse.lizardfs", "fuse.saunafs",
        "fuse.sshfs",
        "fuse.juicefs", "fuse.seaweedfs", "fuse.rclone", "fuse.s3fs", "fuse.davfs", "fuse.curlftpfs",
    ]

    /// Whether other machines may read and write it, too.
    package var isShared: Bool { Self.sharedKinds.contains(kind) }

    /// The same of the filesystem that a path is on; false where the system does not tell. Blocks.
    package static func isShared(_ path: String) -> Bool { MountedFilesystem(of: path)?.isShared ?? false }

    /// Whether `flock` is kept from other machines that have the same filesystem mounted (nfs(5): `local_lock`, `nolock`).
    package var locksOnThisMachineOnly: Bool {
        kind.hasPrefix("nfs") && !options.isDisjoint(with: ["local_lock=flock", "local_lock=all", "nolock"])
    }
}

extension MountedFilesystem {
    /// - Parameters:
    ///   - path: absolute, without symbolic links.
    ///   - text: of `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
    /// - Returns: nil when the text lists no filesystem that the path lies on.
    init?(of path: String, mountinfo text: String) {
        var found: (point: String, filesystem: MountedFilesystem)?
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 5, let dash = words.dropFirst(6).firstIndex(of: "-"), words.count > dash + 3 else {
                continue
            }
            let point = Self.unescaped(words[4])
            guard path == point || path.hasPrefix(point == "/" ? "/" : point + "/") else { continue }
            // Of two filesystems at one mount point the later one hides the other.
            if let found, found.point.utf8.count > point.utf8.count { continue }
            let options = Set(words[dash + 3].split(separator: ",").map(String.init))
            // Some in user space name themselves there only: mfs#HOST:PORT.
            let source = Self.unescaped(words[dash + 2]).split(separator: "#", omittingEmptySubsequences: false)
            let kind = words[dash + 1] == "fuse" && source.count > 1 ? "fuse.\(source[0])" : String(words[dash + 1])
            found = (point, MountedFilesystem(kind: kind, options: options))
        }
        guard let found else { return nil }
        self = found.filesystem
    }

    /// Of a folder. Blocks on the disk.
    /// - Returns: nil where the system does not tell.
    package init?(of folder: String) {
        guard let real = realpath(folder, nil) else { return nil }
        defer { free(real) }
        // To its end: a file that says that it has no length comes a page at a time, and lists the newest disks last.
        guard let bytes = try? FileHandle(forReadingAtPath: "/proc/self/mountinfo")?.readToEnd() else { return nil }
        self.init(of: String(cString: real), mountinfo: String(decoding: bytes, as: UTF8.self))
    }

    /// Space, tab, line end and backslash are written in octal.
    private static func unescaped(_ text: Substring) -> String {
        guard text.contains("\\") else { return String(text) }
        return [("\\040", " "), ("\\043", "#"), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")].reduce(String(text))
        {
            $0.replacing($1.0, with: $1.1)
        }
    }
}
