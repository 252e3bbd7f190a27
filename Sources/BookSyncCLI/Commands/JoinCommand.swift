import ArgumentParser
import AudioFiles
import BookModel
import BookSync
import Foundation
import Settings

struct JoinCommand: BookSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "join", abstract: .words("Make one file of a book's episodes."),
        discussion: .words(
            """
            The audio is copied where codec, sample rate and channels of all episodes agree and the format takes them; else it \
            is encoded once, and a join that is interrupted goes on behind the last episode that was. Each episode is a \
            chapter, or has those that it brings. A file that is there and was made of the same is left as it is. Needs ffmpeg.
            """))

    @OptionGroup var common: CommonOptions

    @Argument(help: .words("Books.", valueName: "ref"), completion: .books)
    var references: [String]

    @Option(help: .words("What to make."))
    var format: JoinFormat

    @Option(
        help: .words("Bits a second of what is encoded, as in 64k. Default: 64k mono, 96k stereo.", valueName: "bits"))
    var bitrate: String?

    @Option(help: .words("Make several files, each at most this long, as in 12h.", valueName: "time"))
    var maxPart: String?

    @Option(
        help: .words("Write to this folder. Default: Joined in the library.", valueName: "folder"),
        completion: .directory)
    var output: String?

    @Option(
        parsing: .unconditional, help: .words("Encode to this loudness (EBU R128), as in -18.", valueName: "lufs"))
    var normalize: Double?

    @Flag(help: .words("Leave out episodes that are missing or damaged."))
    var incomplete = false

    @Flag(help: .words("Overwrite a file that booksync did not write."))
    var force = false

    @Flag(help: .words("Print what would be made, and change nothing."))
    var dryRun = false

    @OptionGroup var waiting: WaitOptions

    private var bitsPerSecond: Int? { bitrate.flatMap(parseByteCount).map { Int($0) } }
    private var maxSeconds: Double? { maxPart.flatMap(parseSeconds) }

    func validate() throws {
        if references.isEmpty { throw ValidationError(.words("Name a book to join.")) }
        if bitrate != nil, !(8000...512_000).contains(bitsPerSecond ?? 0) {
            throw ValidationError(.words("--bitrate takes bits a second from 8k to 512k."))
        }
        if maxPart != nil, maxSeconds ?? 0 < 60 {
            throw ValidationError(.words("--max-part takes a time such as 12h."))
        }
        if let normalize, !(-70 ... -5).contains(normalize) {
            throw ValidationError(.words("--normalize takes LUFS from -70 to -5."))
        }
    }

    func perform(
        _ references: [String], in configuration: Configuration, _ program: Program
    ) async throws -> ExitStatus {
        let books = try references.map(BookReference.init(parsing:)).map { reference in
            guard reference.filter.isEmpty else {
                throw Failure(
                    .usage, what: "\(reference) is not joined", why: "only whole books are", remedy: "name the book")
            }
            return try configuration.book(reference)
        }
        let tools = try program.requireFFmpeg(or: "the files cannot be joined")
        var request = JoinRequest(format: format)
        (request.bitRate, request.maxPart, request.loudness) = (bitsPerSecond, maxSeconds, normalize)
        request.output = output.map { URL(filePath: $0).standardizedFileURL.path(percentEncoded: false) }
        (request.isIncomplete, request.force, request.isDryRun) = (incomplete, force, dryRun)
        let printer = EventPrinter(style: program.plainStyle, streams: program.streams)
        let failures = try await printer.printing { [request] emit in
            let join = BookJoin(
                library: configuration.library, request: request, probe: MediaProbe(tools: tools),
                minFreeSpace: configuration.downloads.minFreeSpace
            ) { emit(.measured($0)) }
            var failures: [Failure] = []
            try await join.execute(
                books, waitingFor: waiting.seconds, knownLibraries: program.knownLibraries
            ) {
                outcome in
                if program.options.json { await printer.aside { await program.printLine(JSONDocument(outcome)) } }
                if outcome.result == .leftOut {
                    emit(.notice(outcome.sentence))
                } else if let failure = outcome.failure {
                    failures.append(failure)
                    // The document of the outcome reports it: no event does so once more.
                    emit(.alert("failed: \(failure)"))
                } else if !program.options.json, !program.options.quiet {
                    await printer.aside { await program.streams.writeOutput([outcome.sentence]) }
                }
            }
            return failures
        }
        return program.interruption.exitStatus ?? ExitStatus(of: failures)
    }
}

extension JoinFormat: ExpressibleByArgument {}

extension JoinOutcome {
    fileprivate var sentence: Message {
        if result == .leftOut { return "\(path ?? "") is left out: \(failure?.why ?? "")" }
        let file: Message = "\(path ?? "") (\(describeBytes(size ?? 0)))"
        guard result != .unchanged else { return "\(file) is up to date" }
        let how: Message = isEncoded == true ? "encoded" : "copied"
        let time = Message(verbatim: describeSeconds(seconds ?? 0))
        let what = [Message(range?.count ?? 0, "episode"), time, how].joined(separator: ", ")
        return result == .planned ? "would write \(file): \(what)" : "wrote \(file): \(what)"
    }
}

extension JSONDocument {
    fileprivate init(_ outcome: JoinOutcome) {
        self = [
            "event": "joined", "source": .string(outcome.book.source), "book_id": .string(outcome.book.id),
            "path": .init(outcome.path), "parts": .init(outcome.parts), "episodes": .init(outcome.range?.count),
            "seconds": .init(outcome.seconds), "size": .init(outcome.size), "reencoded": .init(outcome.isEncoded),
            "outcome": .string(outcome.result.rawValue), "error": .init(outcome.failure?.description),
        ]
    }
}
