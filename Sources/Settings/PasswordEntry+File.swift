import BookModel
import DownloadEngine
import Foundation
import LibraryFiles

extension PasswordEntry {
    /// Writes the entry into a configuration file, which is replaced as a whole or not at all: it keeps its mode and its
    /// owner, and a link to it stays one. Where there is no file, one is made that only its owner reads.
    ///
    /// Blocks on the disk.
    /// - Parameter path: absolute.
    /// - Returns: nil when it was written; else why that is left to the user.
    /// - Throws: ``Failure`` of kind `configuration` when what is there is no YAML, `inputOutput` when it cannot be written.
    package func write(to path: String) throws -> Message? {
        func refuse(_ error: SystemError) -> Failure {
            Failure(
                .inputOutput, disposition: .stop, what: "the configuration \(path) cannot be written",
                why: error.message, remedy: "see that it may be written, or name another with --config")
        }
        do {
            var status = stat()
            guard lstat(path, &status) == 0 else {
                guard errno == ENOENT || errno == ENOTDIR else { throw SystemError.last }
                return try make(path)
            }
            guard let target = SettingFile.realPath(path), stat(target, &status) == 0 else { throw SystemError.last }
            guard status.st_mode & S_IFMT == S_IFREG else { return "it is no file" }
            guard status.st_nlink == 1 else { return "the file has other names, which would keep what it says now" }
            let bytes = try SettingFile.read(target, atMost: YAMLText.byteLimit + 1)
            guard bytes.count <= YAMLText.byteLimit, let text = String(validating: bytes, as: UTF8.self) else {
                return "it is larger than 1 MB, or no UTF-8 text"
            }
            guard let changed = try entered(into: text, file: path) else {
                return "its serve settings are written in a form that is not changed by a program"
            }
            try Self.replace(target, bytes, with: Array(changed.utf8), like: status)
            return nil
        } catch let error as SystemError {
            throw refuse(error)
        }
    }

    private func make(_ path: String) throws -> Message? {
        let folder = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Failure(
                .inputOutput, disposition: .stop, what: "the folder \(folder) cannot be made",
                why: Message(cause: error),
                remedy: "make it, or name another file with --config")
        }
        let text = lines.joined(separator: "\n") + "\n"
        try replaceFile(at: path, with: Array(text.utf8), replaces: false)
        return nil
    }

    private static func replace(_ path: String, _ old: [UInt8], with new: [UInt8], like status: stat) throws {
        try replaceFile(at: path, with: new, like: status) { written throws(SystemError) in
            guard try SettingFile.read(written, atMost: new.count + 1) == new,
                // Who edits it meanwhile shall not lose what they wrote.
                try SettingFile.read(path, atMost: old.count + 1) == old
            else { throw SystemError(code: EAGAIN) }
        }
        guard try SettingFile.read(path, atMost: new.count + 1) == new else { throw SystemError(code: EIO) }
    }
}
