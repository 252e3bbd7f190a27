import Foundation

/// A library as a booksync left it that was killed in the middle of a run; see `Fixtures/store/README.md`.
package struct RecordedLibrary: Sendable {
    /// Of this schema.
    package static let killed = RecordedLibrary(name: "killed")
    /// Of the last schema before the first release.
    package static let prerelease = RecordedLibrary(name: "prerelease")

    private let name: String

    private var archive: URL { Corpus.fixture("store/\(name).tar.gz") }

    /// Unpacks the library as `L` in the folder.
    /// - Returns: the path of its store.
    package func unpack(into folder: URL) async throws -> String {
        let tar = ["/usr/bin/tar", "/bin/tar"].first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let tar else { throw NotRun(why: "there is no tar") }
        let unpacked = try await withProduct(
            ["-xzf", archive.path, "-C", folder.path], in: folder, executable: URL(filePath: tar)
        ) { try await $0.result() }
        guard unpacked.exitCode == 0 else { throw NotRun(why: unpacked.errors) }
        return folder.appending(path: "L/.booksync/store.sqlite").path
    }
}
