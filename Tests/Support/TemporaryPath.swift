import Foundation

/// As ``withTemporaryFolder(isolation:_:)``, with the folder's path.
package func withTemporaryPath<Answer>(
    isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> Answer
) async throws -> Answer {
    try await withTemporaryFolder { try await body($0.path) }
}

/// Writes a file, and the folders above it.
package func write(_ text: String, to path: String) throws {
    let url = URL(filePath: path)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
}
