import BookModel
import DownloadEngine
import Foundation
import LibraryFiles
import Transport

/// A file that a setting names, with what was read of it.
package struct NamedFile<Content: Sendable & Hashable>: Sendable, Hashable {
    /// Absolute.
    package var path: String
    package var content: Content
}

/// Reads the files that a configuration names. Blocks, as all loading of a configuration does.
enum SettingFile {
    /// Why a file cannot be used; holds its path and nothing of its content.
    struct Unusable: Error {
        let why: Message
    }

    private static let maxSecret = 65_536
    private static let maxFile = 4_000_000

    /// A secret that has a file of its own, without the line breaks at its end.
    static func secret(at path: String) throws(Unusable) -> String {
        var text = try self.text(at: path, atMost: maxSecret)
        while text.last?.isNewline == true { text.removeLast() }
        guard !text.isEmpty else { throw Unusable(why: "\(path) is empty") }
        return text
    }

    static func cookies(at path: String) throws(Unusable) -> NamedFile<CookieFile> {
        let text = try text(at: path, atMost: maxFile)
        do {
            return NamedFile(path: path, content: try CookieFile(parsing: text))
        } catch {
            throw Unusable(why: "\(path), line \(error.line), is no cookie in Netscape's format: \(error.why)")
        }
    }

    static func netrc(at path: String) throws(Unusable) -> NamedFile<Netrc> {
        let text = try text(at: path, atMost: maxFile)
        do {
            return NamedFile(path: path, content: try Netrc(parsing: text))
        } catch {
            throw Unusable(why: "\(path), line \(error.line), cannot be read: \(error.why)")
        }
    }

    static func authorities(at path: String) throws(Unusable) -> NamedFile<TrustedAuthorities> {
        let bytes = try bytes(at: path, atMost: maxFile)
        do {
            return NamedFile(path: path, content: try TrustedAuthorities(pem: bytes))
        } catch {
            throw Unusable(why: "\(path): \(error.why)")
        }
    }

    private static func text(at path: String, atMost limit: Int) throws(Unusable) -> String {
        guard let text = String(validating: try bytes(at: path, atMost: limit), as: UTF8.self) else {
            throw Unusable(why: "\(path) is not UTF-8 text")
        }
        return text
    }

    private static func bytes(at path: String, atMost limit: Int) throws(Unusable) -> [UInt8] {
        let bytes: [UInt8]
        do {
            bytes = try read(path, atMost: limit + 1)
        } catch {
            throw Unusable(why: "\(path): \(error.message)")
        }
        guard bytes.count <= limit else { throw Unusable(why: "\(path) is larger than \(describeBytes(Int64(limit)))") }
        return bytes
    }

    /// Not sized beforehand, so that a pipe (`--config <(…)`) works as well.
    static func read(_ path: String, atMost limit: Int) throws(SystemError) -> [UInt8] {
        let descriptor = try systemCall { open(path, O_RDONLY | O_CLOEXEC) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < limit {
            let count = try systemCall { Self.read(descriptor, &buffer) }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return bytes
    }

    /// Whether everybody on the machine may read the file; false for what is no file, such as a pipe.
    static func isReadableByAll(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        return status.st_mode & S_IROTH != 0
    }

    /// Why somebody else than the user, or root, may change what the file holds; nil where nobody may, and for what is no file.
    static func strangersHand(on path: String) -> Message? {
        let folder = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
        for item in [path, folder] {
            var status = stat()
            guard stat(item, &status) == 0 else { continue }
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            guard isFolder || status.st_mode & S_IFMT == S_IFREG else { continue }
            if status.st_uid != 0, status.st_uid != geteuid() { return "\(item) belongs to another user" }
            // In a sticky folder nobody but the owner may rename or delete.
            if isFolder, status.st_mode & S_ISVTX != 0 { continue }
            // The group of the user's own name has no one else in it.
            let isOwnGroup = status.st_gid == getegid()
            if status.st_mode & S_IWOTH != 0 || status.st_mode & S_IWGRP != 0 && !isOwnGroup {
                return "others may write \(item)"
            }
        }
        return nil
    }

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The path without links; nil where it leads nowhere.
    static func realPath(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    private static func read(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Int {
        buffer.withUnsafeMutableBytes { bytes in
            Foundation.read(descriptor, bytes.baseAddress, bytes.count)
        }
    }
}
