import ArgumentParser
import BookModel
import BookSync
import Foundation
import LibraryFiles
import Settings
import ShelfQueries

extension CompletionKind {
    /// The books of the library and of the subscriptions, as a shell offers them for a REF.
    static var books: CompletionKind {
        .custom { words, _, prefix in
            switch await Result.of({ try await BookCompletion(words).references() }) {
            case .success(let references): references.filter { $0.hasPrefix(prefix) }.sorted()
            // Whoever presses the tab key has no use for a sentence: the command itself says what is wrong.
            case .failure: []
            }
        }
    }
}

/// What is looked up while a command is being typed.
private struct BookCompletion {
    private let configurationPath: String?
    private let library: String?

    /// - Parameter words: those of the command line that is being typed, which may be unfinished.
    init(_ words: [String]) {
        func value(of option: String) -> String? {
            for (word, next) in zip(words, words.dropFirst() + [""]) {
                if word == option { return next }
                if word.hasPrefix(option + "=") { return String(word.dropFirst(option.count + 1)) }
            }
            return nil
        }
        configurationPath = value(of: "--config")
        library = value(of: "--library")
    }

    /// Those of the default source by their ids alone.
    func references() async throws -> Set<String> {
        let configuration = try await runBlocking {
            let environment = ProcessInfo.processInfo.environment
            return try Configuration.read(
                explicitPath: configurationPath, environment: environment,
                homeFolder: Program.homeFolder(in: environment),
                currentFolder: FileManager.default.currentDirectoryPath,
                overrides: ConfigurationOverrides(library: library)
            ).configuration
        }
        let onTheShelf = try await ShelfReader.read(configuration.library) { try await $0.books().map(\.book.identity) }
        let subscribed = try configuration.items(with: []).map(\.book)
        return Set(
            ((onTheShelf ?? []) + subscribed).map {
                $0.source == configuration.defaultSource ? $0.id : $0.description
            })
    }
}
