import BookModel
import Foundation

// What can be found out of a library without leaving anything in it. All of it blocks on the disk.

extension LibraryFolder {
    /// - Throws: ``Failure`` of kind `libraryUnwritable` when a library could not be made at the path.
    package static func requireParent(of path: String) throws {
        let parent = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
        guard fileAttributes(parent) != nil else {
            throw unwritable(
                path, why: "its parent folder does not exist",
                remedy: "create \(parent), or mount the disk that it is on")
        }
        guard access(parent, W_OK | X_OK) == 0 else {
            throw unwritable(path, why: "\(parent): \(SystemError.last.message)")
        }
    }

    /// Makes a file that has no name, where the system can: permission bits tell too little.
    /// - Throws: ``Failure`` of kind `libraryUnwritable`.
    package func tryWritingUnseen() throws {
        for folder in [path, ownFolder, partialFolder] where fileAttributes(folder) != nil {
            #if os(Linux)
                let unnamed = O_DIRECTORY | 0o20_000_000  // O_TMPFILE, which is a macro that Swift does not see.
                do {
                    close(try systemCall { Foundation.open(folder, unnamed | O_WRONLY | O_CLOEXEC, 0o600) })
                    continue
                } catch let error
                    where ![EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(error.code)
                {
                    throw Self.unwritable(path, why: "\(folder): \(error.message)")
                } catch {
                    // A filesystem that knows no such files: what its bits say has to do.
                }
            #endif
            guard access(folder, W_OK | X_OK) == 0 else {
                throw Self.unwritable(path, why: "\(folder): \(SystemError.last.message)")
            }
        }
    }

    /// The name of a file to try things on. A server opens its library several times at once: each has its own.
    static func newProbe() -> String { "/.probe-\(getpid())-\(String(UInt64.random(in: 0 ... .max), radix: 36))" }
}
