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
            for folder in folders {
                do {
                    if let opened = try openFolder(folder, below: root, entries: &entries) {
                        try list(opened, as: folder, into: &entries)
                    }
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

    private static func openLibrary(_ path: String) throws -> OpenedFolder? {
        do {
            return try OpenedFolder(path)
        } catch let error where error.code == ENOENT {
            return nil
        } catch {
            throw unreadable(path, error)
        }
    }

    /// - Returns: nil when the folder is missing, or when something else stands in its way, which is then reported.
    private static func openFolder(
        _ folder: String, below root: borrowing OpenedFolder, entries: inout [Entry]
    ) throws(SystemError) -> OpenedFolder? {
        var current = try root.folder(".")
        var path = ""
        for component in folder.split(separator: "/").map(String.init) {
            path += (path.isEmpty ? "" : "/") + component
            do {
                current = try current.folder(component)
            } catch let error where error.code == ENOENT {
                return nil
            } catch let error where error.code == ENOTDIR || error.code == ELOOP {
                if let facts = try current.attributes(of: component) {
                    entries.append(Entry(path: path, facts: facts))
                }
                return nil
            }
        }
        return current
    }

    private static func list(
        _ opened: borrowing OpenedFolder, as folder: String, into entries: inout [Entry]
    ) throws(SystemError) {
        let prefix = folder.isEmpty ? "" : folder + "/"
        for name in try opened.names() {
            guard let facts = try opened.attributes(of: name) else { continue }
            entries.append(Entry(path: prefix + name, facts: facts))
        }
    }

    private static func unreadable(_ folder: String, _ error: SystemError) -> Failure {
        Failure(
            .inputOutput, disposition: .stop, what: "the folder '\(folder)' cannot be read",
            why: error.message,
            remedy: "see that you may read it and that its disk is mounted")
    }
}
