import Foundation
import Support

/// The booksync that is measured: a release build with the Swift runtime linked statically, as it is installed.
struct Product {
    let executable: String

    /// - Parameter path: an executable that exists already; nil builds it first.
    static func found(at path: String?) throws -> Product {
        if let path { return Product(executable: path) }
        let repository = Corpus.repository.path
        // A folder of its own: other flags in the common one would have each build undo the other's.
        let scratch = "\(repository)/.build/benchmark"
        let command = [
            "swift", "build", "-c", "release", "--static-swift-stdlib", "--product", "booksync", "--package-path",
            repository, "--scratch-path", scratch,
        ]
        record("building booksync for release; --booksync PATH would measure an existing one")
        // The whole environment: what fetches packages may need a proxy, a cache, credentials.
        _ = try MeasuredProcess.run(
            command, log: "\(NSTemporaryDirectory())/booksync-benchmark-build.log",
            environment: ProcessInfo.processInfo.environment)
        return Product(executable: "\(scratch)/release/booksync")
    }

    func command(_ arguments: [String], configuration: String, library: String) -> [String] {
        [executable] + arguments + ["--config", configuration, "--library", library]
    }
}

/// A line for the one who waits; the results go to standard output.
func record(_ text: String) {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
}
