import Foundation

/// Gives the body an empty folder of its own, by its real path without symbolic links, and removes it afterwards with
/// all that is in it, also where the body took away its own right to write.
package func withTemporaryFolder<Answer>(
    isolation: isolated (any Actor)? = #isolation, _ body: (URL) async throws -> Answer
) async throws -> Answer {
    ConcurrencyLimit.requireSlot(for: "files")
    let folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        .appending(path: "booksync-test-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    do {
        let answer = try await body(folder)
        try removeFolder(folder)
        return answer
    } catch {
        // The body's own error is the one worth reading; what is left in the temporary directory is not.
        _ = Result { try removeFolder(folder) }
        throw error
    }
}

/// As ``withTemporaryFolder(isolation:_:)`` for a body that waits for nothing.
package func withTemporaryFolder<Answer>(_ body: (URL) throws -> Answer) throws -> Answer {
    ConcurrencyLimit.requireSlot(for: "files")
    let folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        .appending(path: "booksync-test-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { _ = Result { try removeFolder(folder) } }
    return try body(folder)
}

private func removeFolder(_ folder: URL) throws {
    let files = FileManager.default
    if let below = files.enumerator(at: folder, includingPropertiesForKeys: [.isDirectoryKey]) {
        for case let item as URL in below {
            // Not through a link: what it points to is somebody else's.
            let attributes = try files.attributesOfItem(atPath: item.path)
            guard attributes[.type] as? FileAttributeType == .typeDirectory else { continue }
            try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: item.path)
        }
    }
    try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
    try files.removeItem(at: folder)
}

/// What the look at a file gives; nil where there is none, perhaps since a run beside it removed it.
package func unlessRemoved<Answer>(_ look: () throws -> Answer?) throws -> Answer? {
    do { return try look() } catch CocoaError.fileReadNoSuchFile { return nil }
}
