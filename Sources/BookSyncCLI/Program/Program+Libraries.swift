import BookModel
import BookSync
import LibraryFiles
import Settings

extension Program {
    /// What each library that is looked at answers. Those that cannot be looked at are told of, and decide the status.
    func ask<Value: Sendable>(
        _ configuration: Configuration,
        _ body: @escaping @Sendable (Configuration, LibraryPlace) async throws -> Value
    ) async throws -> (answers: LibraryAnswers<Value>, status: ExitStatus) {
        let answers = try await LibraryAnswers.of(configuration, knownLibraries, mayLackRecords: false, body)
        for (place, failure) in answers.failures {
            await streams.writeError("booksync: \(place.name): \(failure)")
        }
        return (answers, ExitStatus(of: answers.failures.map(\.failure)))
    }

    /// What is found in each of the libraries that are looked at and were begun.
    func items<Item: InLibrary>(
        of configuration: Configuration,
        _ body: @escaping @Sendable (ShelfReader) async throws -> [Item]
    ) async throws -> (items: [[Item]], status: ExitStatus) {
        let isNamed = configuration.hasSeveralLibraries
        let (answers, status) = try await ask(configuration) { configuration, place -> [Item]? in
            guard var items = try await ShelfReader.read(configuration.library, body) else { return nil }
            if isNamed { items.name(place) }
            return items
        }
        return (answers.answers.compactMap(\.value), status)
    }

    /// The parts of a command that are the libraries': with the books that it names, or all libraries where it names none.
    /// - Parameter isReading: whether a book that several libraries have is looked at in all of them.
    /// - Throws: ``Failure`` of kind `usage` for a book that two libraries have, where something is done to it.
    func shares(
        of references: [String], _ configuration: Configuration, isReading: Bool = false
    ) async throws -> [(configuration: Configuration, references: [String])] {
        let libraries = configuration.libraries
        guard libraries.count > 1 else { return [(configuration, references)] }
        guard !references.isEmpty else { return libraries.map { (configuration.choosing($0), []) } }
        let books = try references.map { try configuration.book(BookReference(parsing: $0)) }
        let locations = try await BookLocations(of: books, in: configuration, knownLibraries)
        var named: [LibraryPlace: [String]] = [:]
        for (reference, book) in zip(references, books) {
            var places = locations.places(of: book)
            if places.isEmpty {
                try locations.requireCertainty(about: book)
                places = [try configuration.library(forNew: book)]
            }
            guard places.count == 1 || isReading else {
                throw Failure(
                    .usage, disposition: .stop, what: "\(book) is in \(places.count) libraries",
                    why: "they are \(places.map(\.name).joined(separator: ", "))",
                    remedy: "say which one is meant, as in --library \(places[0].name)")
            }
            for place in places { named[place, default: []].append(reference) }
        }
        return libraries.compactMap { place in named[place].map { (configuration.choosing(place), $0) }
        }
    }

    /// Does a command in the libraries of the books that it names, one after the other.
    func inLibraries(
        naming references: [String], isChanging: Bool = false,
        _ body: (Configuration, [String]) async throws -> ExitStatus
    ) async throws -> ExitStatus {
        let configuration = try await libraryConfiguration(naming: references, isChanging: isChanging)
        return try await inLibraries(of: references, configuration, body)
    }

    /// Does a command in the libraries that it is about, one after the other.
    /// - Parameters:
    ///   - skipsEmpty: whether libraries that were never begun are left out where no book is named.
    ///   - body: gets the configuration for one library, and what is named of it.
    /// - Returns: the status that most needs a person.
    func inLibraries(
        of references: [String] = [], _ configuration: Configuration, skipsEmpty: Bool = true,
        _ body: (Configuration, [String]) async throws -> ExitStatus
    ) async throws -> ExitStatus {
        let shares = try await shares(of: references, configuration)
        if shares.count == 1 { return try await body(shares[0].configuration, shares[0].references) }
        var statuses: [ExitStatus] = []
        for (configuration, references) in shares where interruption.exitStatus == nil {
            let place = configuration.place
            let document = (["library": .string(place.name)] as JSONDocument).event("library")
            var isNamed = false
            do {
                let readsRecords = skipsEmpty && references.isEmpty
                try await knownLibraries?.requireMounted(place.path, mayLackRecords: !readsRecords)
                if readsRecords, try await ShelfReader.read(place.path, { _ in true }) == nil { continue }
                isNamed = true
                await printLine(document)
                await note(options.json ? nil : "\(place.name):")
                statuses.append(try await body(configuration, references))
            } catch let failure as Failure {
                await streams.writeError("booksync: \(place.name): \(failure)")
                statuses.append(ExitStatus(failure.kind))
                guard !isNamed, let failed = JSONDocument(.failed(FailureReport(failure: failure))) else { continue }
                await printLine(document)
                await printLine(failed)
            }
        }
        return ExitStatus(worstOf: statuses)
    }
}

extension Program {
    /// Opens a library for a command that may write to it, as ``LibrarySession`` does.
    /// - Parameter wait: seconds to wait for another run to end.
    func withLibrary<Result: Sendable>(
        _ path: String, _ command: String, waitingFor wait: Double, keepsEmpty: Bool = true,
        _ body: (LibrarySession) async throws -> Result
    ) async throws -> Result {
        try await LibrarySession.withLibrary(
            at: path, command: command, waitingFor: wait, knownLibraries: knownLibraries, keepsEmpty: keepsEmpty, body)
    }
}

extension Array where Element: InLibrary {
    /// The same with the name of the library that they are of, where several are looked at.
    func named(_ own: Configuration, of all: Configuration) -> Self {
        named(own.place, of: all)
    }

    func named(_ place: LibraryPlace, of all: Configuration) -> Self {
        all.hasSeveralLibraries ? named(place) : self
    }
}

extension TextTable {
    /// The table with a column that says in which library each row's item is, where several are looked at.
    func withLibraries(of items: [some InLibrary]) -> TextTable {
        guard items.contains(where: { $0.library != nil }) else { return self }
        let rows = zip(items, rows).map { [$0.library ?? ""] + $1 }
        return TextTable(columns: [Column(title: "library")] + columns, rows: rows)
    }
}
