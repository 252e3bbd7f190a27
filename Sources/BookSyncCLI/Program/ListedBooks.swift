import BookModel
import Foundation
import LibraryFiles
import Logging

/// The REFs that were last listed on a terminal: `@3` is the third of them, for as long as nothing else is listed.
struct ListedBooks: Sendable {
    /// Absolute; made with the first listing.
    private let file: String
    private let logger: Logger

    /// Beside what is remembered of libraries; nil where nothing can be remembered.
    init?(environment: [String: String], logger: Logger) {
        guard let folder = KnownLibraries.stateFolder(environment: environment) else { return nil }
        self.file = folder + "/last-listing"
        self.logger = logger
    }

    /// Remembers what was listed of a library. That it cannot be remembered is no failure of the listing.
    func remember(_ references: [String], of library: String) async {
        do {
            try await runBlocking {
                let file = URL(filePath: file)
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700])
                try Data(([library] + references).map { "\($0)\n" }.joined().utf8).write(to: file, options: .atomic)
            }
        } catch {
            logger.info("the listing is not remembered", metadata: ["file": "\(file)", "error": "\(error)"])
        }
    }

    /// The REF in that row of the last listing of the library.
    /// - Throws: ``Failure`` of kind `usage` when there is none.
    func reference(_ number: Int, of library: String) async throws -> String {
        let lines = try await runBlocking {
            FileManager.default.contents(atPath: file).map {
                String(decoding: $0, as: UTF8.self).split(separator: "\n").map(String.init)
            }
        }
        let rows = lines?.first == library ? lines?.dropFirst().map(\.self) ?? [] : []
        guard number > 0, number <= rows.count else {
            throw Failure(
                .usage, disposition: .stop, what: "@\(number) names no book",
                why: rows.isEmpty
                    ? "nothing was listed on a terminal yet" : "the last listing had \(Message(rows.count, "row"))",
                remedy: "list the books with booksync list")
        }
        return rows[number - 1]
    }
}
