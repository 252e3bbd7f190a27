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

/// The same numbers on every run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        self.state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
