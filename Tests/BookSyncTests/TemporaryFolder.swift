import Foundation

/// Runs the body with a new folder that is removed afterwards.
func withTemporaryFolder<T>(
    isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> T
) async throws -> T {
    let url = FileManager.default.temporaryDirectory.appending(path: "booksync-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    let result: Result<T, any Error>
    do {
        result = .success(try await body(url.path(percentEncoded: false)))
    } catch {
        result = .failure(error)
    }
    try FileManager.default.removeItem(at: url)
    return try result.get()
}

func write(_ text: String, to path: String) throws {
    let url = URL(filePath: path)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
}
