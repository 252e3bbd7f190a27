import ArgumentParser
import BookModel
import BookSync
import Foundation
import Settings

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
        var found: [(JSONDocument, [Fact])] = []
        for (own, _) in try await program.shares(of: [self.reference], configuration, isReading: true) {
            let shown = try await ShelfReader.read(own.library) { shelf -> [(JSONDocument, [Fact])] in
                guard !reference.filter.isEmpty else {
                    return try await shelf.books([book]).named(own, of: configuration).map {
                        (JSONDocument(everythingOf: $0), $0.facts)
                    }
                }
                return try await shelf.episodesInFull(of: book, filter: reference.filter).named(own, of: configuration)
                    .map {
                        (JSONDocument(everythingOf: $0), $0.facts)
                    }
            }
            guard let shown else { throw Failure.emptyLibrary(own.library) }
            found += shown
        }
        guard !found.isEmpty else { throw Failure.noSuchEpisode(of: book) }
        await program.print(
            .one(of: found.map(\.0), if: reference.filter.isEmpty || reference.filter.namesOneEpisode),
            or: Self.table(found.map(\.1), program.words))
        return .done
    }

    /// What is unknown is left out; between two episodes is an empty line.
    private static func table(_ found: [[Fact]], _ words: Wordings) -> TextTable {
        let blocks = found.map { facts in
            facts.compactMap { fact in fact.value.map { [words(fact.title), words($0)] } }
        }
        return TextTable.pairs(Array(blocks.joined(separator: [["", ""]])))
    }
}

/// Something that is known, or not, of a book or an episode.
private struct Fact: Sendable {
    var title: Message
    var value: Message?

    init(title: Message, _ value: Message?) {
        self.title = title
        self.value = value
    }
}

private func text(_ value: String?) -> Message? { value.map { Message(verbatim: $0) } }
private func size(_ count: Int64?) -> Message? { count.map { "\(describeBytes($0)) (\($0) bytes)" } }
private func time(_ time: Date?) -> Message? { time.map { "\($0)" } }

extension BookSummary {
    fileprivate var facts: [Fact] {
        [
            Fact(title: "library", text(library)),
            Fact(title: "source", text(book.identity.source)), Fact(title: "id", text(book.identity.id)),
            Fact(title: "title", text(book.title)),
            Fact(title: "author", text(book.author)), Fact(title: "narrator", text(book.narrator)),
            Fact(title: "summary", text(book.summary)),
            Fact(title: "episodes", "\(episodes)"), Fact(title: "on disk", "\(present)"),
            Fact(title: "not here", "\(missing)"),
            Fact(title: "locked", "\(locked)"), Fact(title: "bytes", size(bytes)), Fact(title: "path", text(path)),
            Fact(title: "listing", book.isComplete ? "complete" : "incomplete"),
            Fact(title: "changed", time(updatedAt)),
            Fact(title: "cover", text(book.cover?.withoutSecrets)),
        ]
    }
}

extension ShelfReader.EpisodeOnDisk {
    fileprivate var facts: [Fact] {
        let (episode, file, transfer) = (shelved.episode, shelved.file, shelved.transfer)
        let total = file?.size ?? transfer?.total ?? episode.size
        return [
            Fact(title: "library", text(library)),
            Fact(title: "source", text(episode.identity.book.source)),
            Fact(title: "book", text(episode.identity.book.id)),
            Fact(title: "id", text(episode.identity.key)), Fact(title: "section", "\(episode.section)"),
            Fact(title: "name", text(episode.name)),
            Fact(title: "state", shelved.stateWord),
            Fact(title: "address", text(episode.address?.withoutSecrets)),
            Fact(title: "bytes", size(total)), Fact(title: "on disk", bytesDone == total ? nil : size(bytesDone)),
            Fact(title: "path", text(file?.path)), Fact(title: "SHA-256", text(file?.sha256)),
            Fact(title: "as fetched", text(file?.original?.sha256)),
            Fact(title: "of the audio", text(file?.original?.streamSHA256)),
            Fact(title: "published", time(episode.publishedAt)),
            Fact(title: "duration", text(shelved.duration.map(describeClock))),
            Fact(title: "fetched", time(file?.fetchedAt)),
            Fact(title: "verified by", file.map { $0.verification.words }),
            Fact(title: "failure", transfer?.error),
            Fact(title: "attempts", transfer.flatMap { $0.attempts > 0 ? "\($0.attempts)" : nil }),
            Fact(title: "not before", time(transfer?.nextTryAt)), Fact(title: "removed", time(shelved.removedAt)),
            Fact(title: "type", text(episode.mediaType)), Fact(title: "number", episode.number.map { "\($0)" }),
            Fact(title: "season", episode.season.map { "\($0)" }), Fact(title: "guid", text(shownGUID)),
            Fact(title: "bytes in the catalog", size(episode.size)), Fact(title: "changed", time(episode.modifiedAt)),
            Fact(
                title: "digest in the catalog",
                text(episode.digest.map { "\($0.algorithm.rawValue) \($0.hexadecimal)" })),
        ] + (media?.facts ?? [])
    }
}

extension MediaInfo {
    fileprivate var facts: [Fact] {
        let measures = [(bitRate.map { $0 / 1000 }, " kbit/s"), (sampleRate, " Hz"), (channels, "ch")]
        let format = [codec] + measures.compactMap { number, unit in number.map { "\($0)\(unit)" } }
        let tags = tags.sorted { $0.key < $1.key }.map { name, value in
            "\(name): \(value.split(whereSeparator: \.isWhitespace).joined(separator: " "))"
        }
        return [Fact(title: "audio", text(format.joined(separator: ", ")))]
            + tags.map { Fact(title: "tag", text($0)) }
            + chapters.map { Fact(title: "chapter", text("\(describeClock($0.start)) \($0.title ?? "")")) }
    }
}

extension LocalFile.Verification {
    fileprivate var words: Message {
        switch self {
        case .digest: "the catalog's or the server's digest"
        case .length: "its length"
        case .unverified: "nothing"
        }
    }
}

extension JSONDocument {
    /// The only one of them, where the REF can name no more: what it finds does not change the shape. Several that have
    /// one number are listed.
    static func one(of documents: [JSONDocument], if isOne: Bool) -> JSONDocument {
        isOne && documents.count == 1 ? documents[0] : .array(documents)
    }
}
