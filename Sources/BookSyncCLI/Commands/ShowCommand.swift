import ArgumentParser
import BookModel
import BookSync
import Foundation
import Settings
import ShelfQueries

struct ShowCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: .words("Print everything known of a book or of an episode; offline."),
        discussion: .words("REF for the book, REF/7 for its seventh episode."))

    @OptionGroup var common: CommonOptions

    @Argument(help: .words("The book or the episode.", valueName: "ref"), completion: .books)
    var reference: String

    func perform(in program: Program) async throws -> ExitStatus {
        let configuration = try await program.libraryConfiguration(naming: [reference])
        let reference = try BookReference(parsing: reference)
        let book = try configuration.book(reference)
        let documents = try await ShelfReader.read(configuration.library) { shelf -> [JSONDocument] in
            guard !reference.filter.isEmpty else {
                return try await shelf.books([book]).map { JSONDocument(everythingOf: $0) }
            }
            return try await shelf.episodes(of: book, filter: reference.filter).map { JSONDocument(everythingOf: $0) }
        }
        guard let documents else { throw Failure.emptyLibrary(configuration.library) }
        guard !documents.isEmpty else {
            throw Failure(
                .unknownBook, what: "\(self.reference) names no episode", why: "\(book) has no such section",
                remedy: "booksync list \(book) lists what it has")
        }
        await program.print(
            .one(of: documents, if: reference.filter.isEmpty || reference.filter.namesOneEpisode),
            or: documents.map { $0.lines() }.joined(separator: [""]).map { $0 })
        return .done
    }
}

extension JSONDocument {
    /// The only one of them, where the REF can name no more: what it finds does not change the shape. Several that have
    /// one number are listed.
    static func one(of documents: [JSONDocument], if isOne: Bool) -> JSONDocument {
        isOne && documents.count == 1 ? documents[0] : .array(documents)
    }

    /// An object as lines of `key  value` for people; what is unknown is left out.
    fileprivate func lines() -> [Message] {
        guard case .object(let members) = self else { return [Message(verbatim: text())] }
        let known = members.filter { $0.value != .null }
        let width = known.map(\.key.count).max() ?? 0
        return known.map { member in
            // Catalogs' words: nothing in them may steer the terminal.
            let value =
                if case .string(let text) = member.value { DisplayWidth.printable(text) } else { member.value.text() }
            let key = member.key.replacingOccurrences(of: "_", with: " ")
            return Message(verbatim: key + String(repeating: " ", count: width - key.count + 2) + value)
        }
    }
}
