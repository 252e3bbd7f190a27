import BookModel
import Foundation

/// An open folder. What is in it is opened by name from here, one folder after the other, because `O_NOFOLLOW` guards the
/// last part of a path only: no symbolic link leads out of the library.
///
/// Every call blocks on the disk.
package struct OpenedFolder: ~Copyable {
    let descriptor: Int32

    private static let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC

    /// - Parameter path: a symbolic link at its end is followed.
    package init(_ path: String) throws(SystemError) {
        descriptor = try systemCall { Foundation.open(path, Self.flags) }
    }

    private init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Opens a folder of this one.
    /// - Throws: `ENOTDIR` (Linux) or `ELOOP` (others) for a symbolic link, `EINVAL` for "..".
    func folder(_ name: some StringProtocol) throws(SystemError) -> OpenedFolder {
        guard name != ".." else { throw SystemError(code: EINVAL) }
        return OpenedFolder(descriptor: try open(String(name), Self.flags))
    }

    func open(_ name: String, _ flags: Int32) throws(SystemError) -> Int32 {
        try systemCall { openat(descriptor, name, flags | O_NOFOLLOW) }
    }

    /// - Returns: nil when nothing has that name.
    func attributes(of name: String) throws(SystemError) -> FileAttributes? {
        var status = stat()
        do {
            try systemCall { fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) }
        } catch let error where error.code == ENOENT {
            return nil
        }
        return FileAttributes(status)
    }

    /// What is in it, in no order. Names that are not UTF-8 are left out: booksync wrote none of them.
    package func names() throws(SystemError) -> [String] {
        // With a reading position of its own.
        let descriptor = try open(".", Self.flags)
        guard let stream = fdopendir(descriptor) else {
            let error = SystemError.last
            close(descriptor)
            throw error
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw SystemError.last }
                return names
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)) {
                    String(validatingCString: $0)
                }
            }
            if let name, name != ".", name != ".." { names.append(name) }
        }
    }
}
