import Foundation

/// Recorded and hostile input: the repository's own choice under `Fixtures/catalogs`, and the rest of the corpus where it lies
/// beside the repository. A file that both have is read once, from the fixtures.
package enum Corpus {
    /// The repository's root.
    package static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static let chosen = fixture("catalogs")
    private static let shared = repository.deletingLastPathComponent().appending(path: "shared/corpus")

    /// Whether the whole corpus is here, and not only what was chosen from it.
    package static let isWhole = FileManager.default.fileExists(atPath: shared.appending(path: "rss").path)

    /// Where files are looked for, the first that has one wins.
    private static let roots = isWhole ? [chosen, shared] : [chosen]

    /// A number that a test counts in the chosen files, or in the whole corpus where it is here.
    package static func count(ofChosen chosen: Int, ofWhole whole: Int) -> Int { isWhole ? whole : chosen }

    /// The names of all files below a folder of the corpus, relative to it, sorted.
    package static func names(in folder: String) -> [String] {
        var names: Set<String> = []
        for root in roots.map({ $0.appending(path: folder) }) {
            guard let below = FileManager.default.enumerator(atPath: root.path) else { continue }
            while let name = below.nextObject() as? String {
                if below.fileAttributes?[.type] as? FileAttributeType == .typeRegular { names.insert(name) }
            }
        }
        return names.sorted()
    }

    /// Where one file of the corpus lies.
    package static func file(_ path: String) -> URL { copies(of: path).first ?? chosen.appending(path: path) }

    /// The bytes of one file of the corpus.
    package static func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: file(path))) }

    /// A file that tells of others, once for the chosen files and once for the whole corpus.
    package static func tables(_ path: String) throws -> [Data] {
        try copies(of: path).map { try Data(contentsOf: $0) }
    }

    /// The lines of a table, without its head, as cells; a line that both copies have is here once.
    package static func rows(_ path: String) throws -> [[String]] {
        var known: Set<Substring> = []
        return try tables(path).flatMap { table in
            String(decoding: table, as: UTF8.self).split(separator: "\n").dropFirst()
                .filter { known.insert($0).inserted }
                .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
        }
    }

    /// A file of the repository's own fixtures.
    package static func fixture(_ path: String) -> URL { repository.appending(path: "Fixtures/\(path)") }

    private static func copies(of path: String) -> [URL] {
        roots.map { $0.appending(path: path) }.filter { FileManager.default.fileExists(atPath: $0.path) }
    }
}
