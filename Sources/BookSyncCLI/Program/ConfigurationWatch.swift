import BookModel
import BookSync
import Foundation
import LibraryFiles

/// Notices that the configuration file was edited while a server runs, which reads it only when it starts.
actor ConfigurationWatch {
    private let path: String
    /// At the start; nil where there was no file.
    private let contents: Data?
    private var isReported = false

    init(path: String) async throws {
        self.path = path
        self.contents = try await Self.contents(of: path)
    }

    /// - Returns: what to tell of an edited file, once.
    func notice() async throws -> Message? {
        guard !isReported, try await Self.contents(of: path) != contents else { return nil }
        isReported = true
        return "\(path) changed: restart serve to use it; a new password and a new token count already"
    }

    private static func contents(of path: String) async throws -> Data? {
        try await runBlocking { FileManager.default.contents(atPath: path) }
    }
}
