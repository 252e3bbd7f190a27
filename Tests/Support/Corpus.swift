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

    /// Whether it is here at all.
    package static var isPresent: Bool { folder("rss") != nil }

    /// The paths of all files directly in one folder of it, in order; none where it is absent.
    package static func files(_ name: String) throws -> [String] {
        guard let folder = folder(name) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { folder.path + "/" + $0 }
    }

    /// One file of it; nil where it is absent.
    package static func file(_ path: String) -> URL? { folder(path) }

    /// A file of the repository's own fixtures.
    package static func fixture(_ path: String) -> URL { repository.appending(path: "Fixtures/\(path)") }
}
