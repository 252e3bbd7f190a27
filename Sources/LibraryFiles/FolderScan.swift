import BookModel
import Foundation

/// What stands in folders of the library, without a look into the files.
package enum FolderScan {
    /// What stands at a path of the library.
    package struct Entry: Sendable {
        package let path: String
        package let facts: FileAttributes
    }

    /// Lists the folders themselves, not what is below them. Neither a folder that is a symbolic link nor anything
    /// reached through one is followed: such a link is reported under the folder's own path, as what it is. A folder
    /// that is missing lists nothing.
    /// - Parameters:
    ///   - folders: relative to the library; the empty string is the library itself.
    ///   - library: absolute.
    /// - Returns: library-relative path → what stands there.
    /// - Throws: ``Failure`` of kind `inputOutput` when a folder cannot be read: nothing may be taken for missing then.
    package static func scan(folders: Set<String>, under library: String) async throws -> [String: FileAttributes] {
        try await facts(of: entries(of: folders, under: library))
    }

    package static func facts(of entries: [Entry]) -> [String: FileAttributes] {
        var facts = [String: FileAttributes](minimumCapacity: entries.count)
        for entry in entries { facts[entry.path] = entry.facts }
        return facts
    }

    /// The same as ``scan(folders:under:)``, as a list in no order.
    /// - Parameter skipsForbidden: whether a folder that this user may not read lists nothing, and is no failure.
    package static func entries(
        of folders: some Collection<String> & Sendable, under library: String, skipsForbidden: Bool = false
    ) async throws -> [Entry] {
        try await runBlocking {
            var entries: [Entry] = []
            guard let root = try openLibrary(library) else { return entries }
            defer { close(root) }
            for folder in folders {
                do {
                    guard let descriptor = try openFolder(folder, below: root, entries: &entries) else { continue }
                    try list(descriptor, as: folder, into: &entries)
                } catch let error as SystemError {
                    if skipsForbidden, error.code == EACCES || error.code == EPERM { continue }
                    throw unreadable(folder.isEmpty ? library : folder, error)
                }
            }
            return entries
        }
    }

    /// Lists folders with all that is below them, but for what is hidden. No symbolic link is followed.
    /// - Parameters:
    ///   - folders: relative to the library.
    ///   - skipsForbidden: as in ``entries(of:under:skipsForbidden:)``.
    package static func scanTrees(
        _ folders: Set<String>, under library: String, skipsForbidden: Bool = false
    ) async throws -> [String: FileAttributes] {
        var facts: [String: FileAttributes] = [:]
        var level = folders
        var seen: Set<String> = []
        while !level.isEmpty {
            seen.formUnion(level)
            let found = try await Self.facts(
                of: entries(of: level, under: library, skipsForbidden: skipsForbidden))
            level = Set(found.lazy.filter { $0.value.kind == .folder && !isHidden($0.key) }.map(\.key)).subtracting(
                seen)
            facts.merge(found) { _, new in new }
        }
        return facts
    }

    private static func isHidden(_ path: String) -> Bool { splitLibraryPath(path).name.utf8.first == 0x2E }

    private static func openLibrary(_ path: String) throws -> Int32? {
        do {
            return try systemCall { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        } catch let error where error.code == ENOENT {
            return nil
        } catch {
            throw unreadable(path, error)
        }
    }

    /// Walks down one component after the other, because `O_NOFOLLOW` guards the last one only.
    /// - Returns: nil when the folder is missing, or when something else stands in its way, which is then reported.
    private static func openFolder(
        _ folder: String, below root: Int32, entries: inout [Entry]
    ) throws(SystemError) -> Int32? {
        var current = try systemCall { fcntl(root, F_DUPFD_CLOEXEC, 0) }
        var path = ""
        for component in folder.split(separator: "/").map(String.init) {
            let parent = current
            defer { close(parent) }
            guard component != "..", component != "." else { throw SystemError(code: EINVAL) }
            path += (path.isEmpty ? "" : "/") + component
            do {
                current = try systemCall {
                    openat(parent, component, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                }
            } catch let error where error.code == ENOENT {
                return nil
            } catch let error where error.code == ENOTDIR || error.code == ELOOP {
                if let facts = try Self.facts(of: component, in: parent) {
                    entries.append(Entry(path: path, facts: facts))
                }
                return nil
            }
        }
        // A descriptor that was duplicated shares its reading position with the original: open the root anew.
        guard path.isEmpty else { return current }
        defer { close(current) }
        return try systemCall { openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    }

    /// Closes the descriptor.
    private static func list(
        _ descriptor: Int32, as folder: String, into entries: inout [Entry]
    ) throws(SystemError) {
        guard let stream = fdopendir(descriptor) else {
            let error = SystemError.last
            close(descriptor)
            throw error
        }
        defer { closedir(stream) }
        let prefix = folder.isEmpty ? "" : folder + "/"
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw SystemError.last }
                return
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)) {
                    // A name that is not UTF-8 is none that booksync wrote.
                    String(validatingCString: $0)
                }
            }
            guard let name, name != ".", name != ".." else { continue }
            guard let facts = try Self.facts(of: name, in: dirfd(stream)) else { continue }
            entries.append(Entry(path: prefix + name, facts: facts))
        }
    }

    /// - Returns: nil when it went away meanwhile.
    private static func facts(of name: String, in folder: Int32) throws(SystemError) -> FileAttributes? {
        var status = stat()
        do {
            try systemCall { fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) }
        } catch let error where error.code == ENOENT {
            return nil
        }
        return FileAttributes(status)
    }

    private static func unreadable(_ folder: String, _ error: SystemError) -> Failure {
        Failure(
            .inputOutput, disposition: .stop, what: "the folder '\(folder)' cannot be read",
            why: error.text,
            remedy: "see that you may read it and that its disk is mounted")
    }
}

extension FileAttributes {
    package init(_ status: stat) {
        let kind: Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .symbolicLink
            default: .other
            }
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        self.init(
            size: Int64(status.st_size), modificationTime: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec),
            inode: UInt64(status.st_ino), kind: kind)
    }
}
