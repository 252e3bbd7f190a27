import ArgumentParser
import AudioFiles
import BookModel
import BookSync
import Settings

struct TagCommand: BookSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "tag", abstract: .words("Embed title, author, number and cover in the audio files."),
        discussion: .words(
            """
            Writes what the catalog says of them into MP3, MP4, Ogg, FLAC and Matroska files; needs ffmpeg. The audio is not \
            encoded anew, tags of other kinds stay, and --restore puts back what was fetched, byte for byte, without a download. \
            downloads.tags: embed has every run do it.
            """))

    @OptionGroup var common: CommonOptions

    @Argument(help: .words("Books or episodes: REF, REF/12, REF/12-40.", valueName: "ref"), completion: .books)
    var references: [String]

    @Flag(help: .words("Print what would be written, and change nothing."))
    var dryRun = false

    @Flag(help: .words("Put back what was fetched."))
    var restore = false

    @Flag(help: .words("Make files that have another name elsewhere (hard links) files of their own."))
    var copy = false

    @OptionGroup var waiting: WaitOptions

    func validate() throws {
        if dryRun, restore { throw ValidationError(.words("--dry-run and --restore exclude each other.")) }
    }

    var isChanging: Bool { !dryRun }

    func perform(
        _ references: [String], in configuration: Configuration, _ program: Program
    ) async throws -> ExitStatus {
        let books = try configuration.books(naming: references)
        let tools = try program.requireFFmpeg(or: "the files get no tags")
        let work: BookTagging.Work = dryRun ? .plan : restore ? .restore : .embed
        return try await program.withLibrary(configuration.library, "tag", waitingFor: waiting.seconds) { session in
            let tagging = BookTagging(
                configuration: configuration, session: session, media: MediaProbe(tools: tools), copies: copy)
            var (documents, failures, counts) = ([JSONDocument](), [Failure](), [Int](repeating: 0, count: 3))
            for (book, filter) in books {
                try await tagging.execute(work, of: book, filter: filter) { outcome in
                    documents.append(JSONDocument(outcome))
                    let line: Message?
                    switch outcome.result {
                    case .success(.unchanged), .success(.tagged([])):
                        line = nil
                        counts[1] += 1
                    case .success(.tagged(let names)):
                        line = "\(outcome.file.path): \(Message(verbatim: names.joined(separator: ", ")))"
                        counts[0] += 1
                    case .success(.restored):
                        line = "restored \(outcome.file.path)"
                        counts[0] += 1
                    case .failure(let failure):
                        line = nil
                        failures.append(failure)
                        counts[2] += 1
                        await program.streams.writeError("booksync: \(failure)")
                    }
                    if let line, !program.options.json { await program.streams.writeOutput([line]) }
                }
            }
            let files = Message(counts[0], "file")
            let sentence: Message =
                switch work {
                case .embed: "\(files) tagged, \(counts[1]) unchanged, \(counts[2]) left"
                case .restore: "\(files) restored, \(counts[1]) unchanged, \(counts[2]) left"
                case .plan: "\(files) to tag, \(counts[1]) unchanged, \(counts[2]) left"
                }
            await program.print(.array(documents), or: [sentence])
            return ExitStatus(of: failures)
        }
    }
}

extension JSONDocument {
    fileprivate init(_ outcome: BookTagging.Outcome) {
        var (keyword, tags, failure) = ("unchanged", [String](), Failure?.none)
        switch outcome.result {
        case .success(.tagged(let names)) where !names.isEmpty: (keyword, tags) = ("tagged", names)
        case .success(.tagged), .success(.unchanged): break
        case .success(.restored): keyword = "restored"
        case .failure(let why): (keyword, failure) = ("left", why)
        }
        let episode = outcome.episode
        self = .naming(episode.identity, section: episode.section, name: episode.name).event("tagged").adding([
            "path": .string(outcome.file.path), "outcome": .string(keyword),
            "tags": .array(tags.map { .string($0) }), "error": .init(failure?.description),
        ])
    }
}
