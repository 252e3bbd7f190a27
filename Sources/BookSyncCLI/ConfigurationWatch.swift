import BookSync
import Foundation

/// Notices that the configuration file was edited while a server runs, which reads it only when it starts.
actor ConfigurationWatch {
    private let path: String
    /// At the start; nil where there was no file.
    private let contents: Data?
    private var isTold = false

    init(path: String) async throws {
        self.path = path
        self.contents = try await Self.contents(of: path)
    }

    /// - Returns: what to tell of an edited file, once.
    func notice() async throws -> String? {
        guard !isTold, try await Self.contents(of: path) != contents else { return nil }
        isTold = true
        return "\(path) changed: restart serve to use it; a new password and a new token count already"
    }

    private static func contents(of path: String) async throws -> Data? {
        try await offPool { FileManager.default.contents(atPath: path) }
    }
}

/// Tells when a file was written to, or another was put in its place.
actor WatchedFile {
    private struct Version: Equatable {
        let inode: UInt64
        let size: UInt64
        let modified: Date?
    }

    private let path: String
    private var seen: Version?

    init(path: String) {
        self.path = path
    }

    /// Whether it did since the last call. Looks at no byte of it.
    func hasChanged() async -> Bool {
        let path = path
        let version = try? await offPool {
            // A link is followed, as it is when the file is read.
            let file = URL(filePath: path).resolvingSymlinksInPath().path(percentEncoded: false)
            let facts = try FileManager.default.attributesOfItem(atPath: file)
            return Version(
                inode: (facts[.systemFileNumber] as? UInt64) ?? 0, size: (facts[.size] as? UInt64) ?? 0,
                modified: facts[.modificationDate] as? Date)
        }
        defer { seen = version }
        return version != seen
    }
}
