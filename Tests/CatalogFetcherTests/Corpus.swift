import Foundation

/// Recorded and hostile input that lies beside the repository; tests that need it are skipped where it is absent.
enum Corpus {
    static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let folder = repository.deletingLastPathComponent().appending(path: "shared/corpus")

    static let isPresent = FileManager.default.fileExists(atPath: folder.path)

    static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: path)))
    }

    /// Names of the files in a folder of the corpus, sorted; empty where the corpus is absent.
    static func names(in path: String) -> [String] {
        guard let names = FileManager.default.enumerator(atPath: folder.appending(path: path).path) else { return [] }
        return names.compactMap { $0 as? String }.sorted()
    }

    /// A fixture of the repository's own.
    static func fixture(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: repository.appending(path: "Fixtures/\(path)")))
    }
}
