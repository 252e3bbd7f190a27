import Foundation
import Support

/// Runs the body with a new folder that is removed afterwards.
func withTemporaryFolder<T>(
    isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> T
) async throws -> T {
    try await Support.withTemporaryFolder { try await body($0.path) }
}

func write(_ text: String, to path: String) throws {
    let url = URL(filePath: path)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
}
