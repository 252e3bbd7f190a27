import ArgumentParser
import BookModel
import BookSync
import Foundation

struct ShowCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print everything known of a book or of an episode; offline.",
        discussion: "REF for the book, REF/7 for its seventh episode.")

    @OptionGroup var common: CommonOptions

    @Argument(help: ArgumentHelp("The book or the episode.", valueName: "ref"))
    var reference: String

    func perform(in program: Program) async throws -> ExitStatus {
        let configuration = try await program.configuration().configuration
        let reference = try BookReference(parsing: reference)
        let book = try configuration.book(reference)
        let documents = try await ShelfReader.read(configuration.library) { shelf -> [JSONDocument] in
            guard !reference.filter.isEmpty else {
                return try await shelf.books([book]).map { shelved in
                    JSONDocument(shelved).adding([
                        "summary": .init(shelved.book.summary), "cover": .init(shelved.book.cover?.withoutSecrets),
                    ])
                }
            }
            return try await shelf.episodes(of: book, filter: reference.filter).map { Self.document(of: $0) }
        }
        guard let documents else { throw Failure.emptyLibrary(configuration.library) }
        guard !documents.isEmpty else {
            throw Failure(
                .unknownBook, what: "\(self.reference) names no episode", why: "\(book) has no such section",
                remedy: "booksync list \(book) lists what it has")
        }
        await program.print(
            documents.count == 1 ? documents[0] : .array(documents),
            or: documents.map { $0.lines() }.joined(separator: [""]).map { $0 })
        return .done
    }

    private static func document(of episode: ShelfReader.EpisodeOnDisk) -> JSONDocument {
        let shelved = episode.shelved
        return JSONDocument(shelved, bytesDone: episode.bytesDone).adding([
            "type": .init(shelved.episode.mediaType),
            "number": .init(shelved.episode.number),
            "season": .init(shelved.episode.season),
            // Often an address, and then perhaps a signed one.
            "guid": .init(
                shelved.episode.guid.map { $0.contains("://") ? ResourceAddress($0).withoutSecrets : $0 }),
            "catalog_digest": .init(
                shelved.episode.digest.map { "\($0.algorithm.rawValue):\($0.hexadecimal)" }),
            "modified_at": .init(shelved.episode.modifiedAt),
            "catalog_size": .init(shelved.episode.size),
            "fetched_at": .init(shelved.file?.fetchedAt),
            "verified": .init(shelved.file?.verification.rawValue),
            "etag": .init((shelved.file?.validator ?? shelved.transfer?.validator)?.entityTag),
            "last_modified": .init((shelved.file?.validator ?? shelved.transfer?.validator)?.lastModified),
            "next_try_at": .init(shelved.transfer?.nextTryAt),
            "removed_at": .init(shelved.removedAt),
        ])
    }
}

extension JSONDocument {
    /// An object as lines of `key  value` for people; what is unknown is left out.
    fileprivate func lines() -> [String] {
        guard case .object(let members) = self else { return [text()] }
        let known = members.filter { $0.value != .null }
        let width = known.map(\.key.count).max() ?? 0
        return known.map { member in
            // Catalogs' words: nothing in them may steer the terminal.
            let value =
                if case .string(let text) = member.value { DisplayWidth.printable(text) } else { member.value.text() }
            let key = member.key.replacingOccurrences(of: "_", with: " ")
            return key + String(repeating: " ", count: width - key.count + 2) + value
        }
    }
}
