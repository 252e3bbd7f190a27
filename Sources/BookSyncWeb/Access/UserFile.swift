import BookModel
import Foundation
import LibraryFiles

/// The users of a library, in `.booksync/serve-users`, which only its owner reads. It is not in the store, so that neither a
/// lost store nor an older copy of it lets anybody in.
///
/// A file that cannot be read is an error, and never means that there are no users. Blocks on the disk.
struct UserFile: Sendable {
    private struct Content: Codable {
        /// Of the format. A restriction that this version does not know must not be ignored.
        var version = 1
        var users: [User]
    }

    private static let maxSize = 16 << 20

    private let path: String

    /// - Parameter library: absolute path of its folder.
    init(library: String) {
        path = library + "/.booksync/serve-users"
    }

    /// - Returns: by their names; nil where there is no file.
    /// - Throws: ``Failure`` of kind `inputOutput`.
    func read() throws -> [User]? {
        do {
            guard let bytes = try readPrivateFile(at: path, maxSize: Self.maxSize) else { return nil }
            let content = try JSONDecoder().decode(Content.self, from: Data(bytes))
            let isValid =
                content.version == 1 && Set(content.users.map(\.id)).count == content.users.count
                && content.users.allSatisfy { $0.id != User.owner.id && $0.name != nil }
            guard isValid else { throw SystemError(code: EINVAL) }
            return content.users
        } catch {
            throw Failure(
                .inputOutput, disposition: .stop, what: "the users in \(path) cannot be read",
                why: (error as? SystemError)?.message ?? "the file is damaged",
                remedy: "make the file readable, or restore it from a backup; until then all logins are refused")
        }
    }

    /// Changes the users, one process at a time where the filesystem has locks.
    /// - Parameters:
    ///   - first: the users with whom the file is created where there is none; nil to refuse that. A file without users lets
    ///     everybody in, and must not replace one that got lost.
    ///   - held: what the caller's ``lock()`` returned, where it has the lock already.
    /// - Returns: the users as they are now.
    /// - Throws: ``Failure``, and what `body` throws; then nothing is changed.
    @discardableResult
    func change(
        creatingWith first: [User]? = nil, holding held: CInt? = nil, _ body: (inout [User]) throws -> Void = { _ in }
    ) throws -> [User] {
        let lock = held ?? lock()
        defer { if held == nil { close(lock) } }
        guard var users = try read() ?? first else {
            throw Failure.file("\(path) cannot be changed", errno: ENOENT)
        }
        try body(&users)
        users.sort { ($0.name ?? "") < ($1.name ?? "") }
        let bytes = try JSONEncoder().encode(Content(users: users))
        do {
            try replaceFile(at: path, with: Array(bytes))
        } catch {
            throw Failure.file("\(path) cannot be written", errno: error.code)
        }
        return users
    }

    /// Waits until no other process changes the users.
    /// - Returns: a descriptor, to be closed; below 0 where the lock's file cannot be made.
    func lock() -> CInt {
        let lock = uninterrupted { open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600) }
        if lock >= 0 { uninterrupted { flock(lock, LOCK_EX) } }
        return lock
    }
}
