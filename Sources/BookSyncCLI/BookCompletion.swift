import ArgumentParser
import BookModel
import BookSync
import Foundation
import LibraryFiles
import Settings

extension CompletionKind {
    /// The books of the library and of the subscriptions, as a shell offers them for a REF.
    static var books: CompletionKind {
        .custom { words, _, prefix in await BookCompletion.offers(words, prefix) }
    }

    /// The same, and files.
    static var booksAndFiles: CompletionKind {
        .custom { words, _, prefix in await BookCompletion.offers(words, prefix) + files(prefix) }
    }

    /// What is there under names that begin so; for a single folder what is in it, lest a shell end the word behind it.
    private static func files(_ prefix: String) -> [String] {
        let folder = prefix.lastIndex(of: "/").map { String(prefix[...$0]) } ?? ""
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder) else {
            return []
        }
        let found = names.map { folder + $0 }.filter { path in
            path.hasPrefix(prefix)
                && (prefix.dropFirst(folder.count).hasPrefix(".") || !path.dropFirst(folder.count).hasPrefix("."))
        }.map { isFolder(at: $0) ? $0 + "/" : $0 }.sorted()
        guard found.count == 1, found[0].hasSuffix("/"), found[0] != prefix else { return found }
        let within = files(found[0])
        return within.isEmpty ? found : within
    }
}

/// What is looked up while a command is being typed.
private struct BookCompletion {
    private let configurationPath: String?
    private let library: String?

    /// - Parameter words: as for ``init(_:)``.
    /// - Returns: the references that begin so, as the shell that asks takes them.
    static func offers(_ words: [String], _ prefix: String) async -> [String] {
        // Whoever presses the tab key has no use for a sentence: the command itself says what is wrong.
        guard case .success(let references) = await Result.of({ try await BookCompletion(words).references(prefix) })
        else {
            return []
        }
        let offered = references.filter { $0.hasPrefix(prefix) }.sorted()
        // Behind a colon zsh expects a description.
        return CompletionShell.requesting == .zsh
            ? offered.map { $0.replacing("\\", with: "\\\\").replacing(":", with: "\\:") } : offered
    }

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

    /// Those of the default source by their ids alone, and once a word is begun the titles that begin so. A title of several
    /// words would have to be quoted.
    func references(_ prefix: String) async throws -> Set<String> {
        let configuration = try await runBlocking {
            let environment = ProcessInfo.processInfo.environment
            return try Configuration.read(
                explicitPath: configurationPath, environment: environment,
                homeFolder: Program.homeFolder(in: environment),
                currentFolder: FileManager.default.currentDirectoryPath,
                overrides: ConfigurationOverrides(library: library)
            ).configuration
        }
        let books = try await LibraryAnswers.of(configuration, nil) { configuration, _ in
            try await ShelfReader.read(configuration.library) { try await $0.books().map(\.book) } ?? []
        }.answers.flatMap(\.value)
        let shelf = books.map(\.identity)
        let addressed = AddressedBooks(shelf, of: configuration)
        // What kind of book an address has is known from its catalog alone.
        let (addresses, subscribed) = try configuration.subscriptions.reduce(into: ([String](), [BookIdentity]())) {
            guard let address = $1.reference.address else { return $0.1.append(try configuration.book($1.reference)) }
            if addressed.book(at: address) == nil { $0.0.append(address.description) }
        }
        let titles =
            prefix.isEmpty
            ? []
            : books.map(\.title).filter { title in
                title.allSatisfy { $0.isLetter || $0.isNumber || "-_.".contains($0) }
            }
        return Set(
            (shelf + subscribed).map { $0.source == configuration.defaultSource ? $0.id : $0.description }
                + addresses + titles)
    }
}
