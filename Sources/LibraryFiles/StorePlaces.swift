import BookModel
import Crypto
import Foundation
import Synchronization

/// Where the stores of libraries lie: in the libraries themselves, unless the setting `store` names a folder for them.
///
/// It is known to whatever a command does, as its task's own: nothing else on the way to a library needs to hand it on.
package final class StorePlaces: Sendable {
    /// Of the command that runs; nil where none does.
    @TaskLocal package static var current: StorePlaces?

    private let places = Mutex<(base: String?, names: [String: String])>((nil, [:]))

    package init() {}

    /// - Parameters:
    ///   - folder: absolute; nil for the libraries themselves.
    ///   - names: of libraries that have some, by their absolute paths.
    package func set(_ folder: String?, names: [String: String] = [:]) {
        places.withLock { $0 = (folder, names) }
    }

    /// - Returns: an absolute path; nil where the store lies in the library.
    func folder(of library: String) -> String? {
        let (base, names) = places.withLock { $0 }
        return base.map { Self.folder(of: library, named: names[library], in: $0) }
    }

    /// The folder of one library's store: by its name, or else by the last part of its path and a digest of the whole.
    package static func folder(of library: String, named name: String?, in base: String) -> String {
        if let name { return base + "/" + name }
        let digest = SHA256.hash(data: Data(library.utf8)).prefix(4).hexadecimal
        return base + "/" + (library.split(separator: "/").last ?? "root") + "-" + digest
    }
}
