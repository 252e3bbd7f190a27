import Foundation

/// Recorded and hostile input that lies beside the repository. Tests that need it are enabled only where it is:
/// `@Test(.enabled(if: Corpus.folder("rss") != nil))`.
package enum Corpus {
    /// The repository's root.
    package static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// One folder of the corpus; nil where it is absent.
    package static func folder(_ name: String) -> URL? {
        let folder = repository.deletingLastPathComponent().appending(path: "shared/corpus/\(name)")
        return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }

    /// One file of it; nil where it is absent.
    package static func file(_ path: String) -> URL? { folder(path) }

    /// A file of the repository's own fixtures.
    package static func fixture(_ path: String) -> URL { repository.appending(path: "Fixtures/\(path)") }
}
