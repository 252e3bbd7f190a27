import BookModel
import CatalogStore
import Foundation
import LibraryFiles

// The number of the library's newest run, kept beside its store in `.booksync/newest-run`, in decimal: a store that knows no such
// run is an older copy, and files that were fetched since may lie wherever the user moved them.
//
// It is a help in finding them, and never needed: where it cannot be read or written, nothing is said.

extension LibraryFolder {
    /// Whether runs were made of which the store knows nothing.
    func hasNewerRun(than store: CatalogStore) async throws -> Bool {
        guard let number = await newestRun else { return false }
        return try await store.runs(last: 1).first.map { $0.number < number } ?? true
    }

    /// Records a run that the store has just recorded; one that the store is older than leaves it so for the next.
    func record(begun run: Int64) async {
        let isOlder = await newestRun.map { $0 >= run } ?? false
        await record(newest: isOlder ? run.addingSaturated(1) : run)
    }

    /// Records that a run looked for everything and ended well: the store knows all again.
    func record(complete run: Int64) async {
        if let number = await newestRun, number > run { await record(newest: run) }
    }

    private var newestRun: Int64? {
        get async {
            let text = try? await runBlocking { try String(contentsOfFile: runMark, encoding: .utf8) }
            return text.flatMap { Int64($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
        }
    }

    private func record(newest number: Int64) async {
        _ = try? await runBlocking {
            try Data("\(number)\n".utf8).write(to: URL(filePath: runMark), options: .atomic)
        }
    }

    private var runMark: String { ownFolder + "/newest-run" }
}
