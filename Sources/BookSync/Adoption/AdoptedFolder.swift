import BookModel
import DownloadEngine
import Foundation
import LibraryFiles

/// A folder that files are adopted from, and how it lies to the library.
struct AdoptedFolder: Sendable {
    /// Absolute.
    let path: String
    /// Relative to the library, "" for the library itself; nil when the folder is outside.
    let pathInLibrary: String?

    /// - Throws: ``Failure`` of kind `usage` when there is no such folder, or it is booksync's own.
    init(_ path: String, library: String) async throws {
        let (real, realLibrary) = try await runBlocking {
            guard isFolder(at: path) else {
                throw Failure(
                    .usage, what: "\(path) cannot be adopted", why: "there is no such folder",
                    remedy: "name the folder that holds the files")
            }
            return (
                URL(filePath: path).resolvingSymlinksInPath().path,
                URL(filePath: library).resolvingSymlinksInPath().path
            )
        }
        self.path = path
        if real == realLibrary {
            self.pathInLibrary = ""
        } else if real.hasPrefix(realLibrary + "/") {
            self.pathInLibrary = String(real.dropFirst(realLibrary.count + 1))
        } else {
            self.pathInLibrary = nil
        }
        if let pathInLibrary, pathInLibrary == ".booksync" || pathInLibrary.hasPrefix(".booksync/") {
            throw Failure(.usage, what: "\(path) cannot be adopted", why: "it is what booksync keeps for itself")
        }
    }

    /// The files in the folder and below it, relative to it; what is hidden is passed over.
    func files() async throws -> [String: FileAttributes] {
        try await FolderScan.scanTrees([""], under: path).filter { path, facts in
            facts.kind == .file && !splitLibraryPath(path).name.hasPrefix(".")
        }
    }

    static func isAudio(_ path: String) -> Bool {
        let name = splitLibraryPath(path).name
        guard let dot = name.lastIndex(of: ".") else { return false }
        return AudioExtension.known.contains(name[name.index(after: dot)...].lowercased())
    }

    /// Where a file of the folder is in the library; nil when it is outside.
    func libraryPath(of path: String) -> String? {
        pathInLibrary.map { $0.isEmpty ? path : $0 + "/" + path }
    }

    func isRecorded(_ path: String, among recorded: Set<String>) -> Bool {
        libraryPath(of: path).map { recorded.contains($0) || $0.hasPrefix(LibraryFolder.joinedPath) } ?? false
    }
}
