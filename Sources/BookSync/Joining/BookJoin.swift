import BookModel
import CatalogStore
import Crypto
import Foundation
import LibraryFiles
import MediaProbe
import Settings
import ShelfQueries

/// Makes one file, or several, of the episodes of a book.
///
/// What cannot be copied is encoded into a file of its own for each episode, which stays until the book is joined: a join that is
/// interrupted goes on behind the last of them. What is made is written beside its place and recorded there with size and time,
/// then renamed, then recorded in its place: whatever a kill leaves, the file that stands there is one of those recorded.
package struct BookJoin: Sendable {
    private let configuration: Configuration
    private let request: JoinRequest
    private let probe: MediaProbe
    private let emit: @Sendable (LibraryVerification.Event) -> Void
    private var library: String { configuration.library }
    private var workFolder: String { library + "/" + Self.workPath }
    private static let workPath = ".booksync/joining"

    /// - Parameter probe: has ffmpeg.
    package init(
        configuration: Configuration, request: JoinRequest, probe: MediaProbe,
        emit: @escaping @Sendable (LibraryVerification.Event) -> Void = { _ in }
    ) {
        (self.configuration, self.request, self.probe, self.emit) = (configuration, request, probe, emit)
    }

    /// Joins the books, one after another; a dry run changes nothing and needs no lock.
    /// - Parameter report: is told what became of each file, and of a book that failed.
    package func execute(
        _ books: [BookIdentity], waitingFor wait: Double, knownLibraries: KnownLibraries?,
        report: (JoinOutcome) async -> Void
    ) async throws {
        func join(with store: CatalogStore) async throws {
            for book in books {
                try Task.checkCancellation()
                for outcome in try await outcomes(of: book, store: store) { await report(outcome) }
            }
        }
        if request.isDryRun {
            guard let store = try await LibraryFolder.readableStore(in: library, refusingLost: false) else {
                throw Failure.emptyLibrary(library)
            }
            return try await store.closing { try await join(with: store) }
        }
        _ = try await LibraryFolder.requireStore(in: library)
        try await LibrarySession.withLibrary(
            at: library, command: "join", waitingFor: wait, knownLibraries: knownLibraries
        ) { session in try await join(with: session.store) }
    }

    /// - Returns: one outcome a file; one for a book that failed; none where episodes are missing of which nothing is to be said.
    /// - Throws: ``Failure`` that would meet every other book, and `CancellationError`.
    func outcomes(of book: BookIdentity, store: CatalogStore) async throws -> [JoinOutcome] {
        do {
            return try await join(book, store: store)
        } catch let failure as Failure where failure.kind != .configuration && failure.kind != .libraryUnwritable {
            return [JoinOutcome(book: book, result: .failed, failure: failure)]
        }
    }

    private func join(_ book: BookIdentity, store: CatalogStore) async throws -> [JoinOutcome] {
        let plan = try await JoinPlan(of: book, request, in: library, store: store)
        if request.isIncomplete == nil, !plan.missing.isEmpty || plan.episodes.isEmpty { return [] }
        guard !plan.episodes.isEmpty else {
            throw notJoined(plan, why: "nothing of \(book) is on disk", remedy: "run booksync fetch first")
        }
        if let made = plan.upToDate(in: library) {
            return made.map { file in
                var outcome = JoinOutcome(book: book, result: .unchanged)
                (outcome.path, outcome.parts, outcome.size) = (file.path, made.count, file.size)
                return outcome
            }
        }
        guard plan.missing.isEmpty || request.isIncomplete != false else {
            throw notJoined(
                plan, why: "not on disk: \(SectionRanges(of: plan.missing.map(\.section)))",
                remedy: "fetch what is missing, or join what is there with --incomplete")
        }
        let parts = try await measured(plan, store: store)
        let isCopied = request.loudness == nil && AudioPart.canCopy(parts, into: request.format)
        let encoding =
            isCopied
            ? nil : JoinEncoding(of: parts, as: request.format, bitRate: request.bitRate, loudness: request.loudness)
        let ranges = split(parts)
        var outcomes = zip(ranges, plan.paths(ranges.count, as: request.format)).map { range, path in
            var outcome = JoinOutcome(book: book, result: .planned)
            let seconds = parts[range].reduce(0) { $0 + $1.seconds }
            let bytes = plan.episodes[range].reduce(0) { $0 + $1.file.size }
            (outcome.path, outcome.parts, outcome.episodes) = (path, ranges.count, range.count)
            (outcome.seconds, outcome.isEncoded) = (seconds, encoding != nil)
            outcome.size = encoding.map { Int64(seconds * Double($0.bitRate) / 8) } ?? bytes
            return outcome
        }
        for index in outcomes.indices {
            guard let failure = obstacle(at: outcomes[index].path ?? "", plan) else { continue }
            (outcomes[index].result, outcomes[index].failure) = (.left, failure)
            return [outcomes[index]]
        }
        if request.isDryRun { return outcomes }
        try await runBlocking { try LibraryFolder.makeFolder(workFolder, in: library) }
        let files = plan.episodes.map(\.file)
        try requireRoom(for: outcomes, encoding: encoding != nil, plan)
        let meter = JoinMeter(files, emit: emit)
        outcomes = try await meter.telling { [outcomes] in
            var outcomes = outcomes
            var packets = parts
            if let encoding { packets = try await encoded(parts, files, as: encoding, meter) }
            var made: [(temporary: JoinedFile, path: String)] = []
            for (index, range) in ranges.enumerated() {
                let path = outcomes[index].path ?? ""
                let temporary = temporaryPath(for: path)
                let absolute = temporary.hasPrefix("/") ? temporary : library + "/" + temporary
                let size = outcomes[index].size ?? 0
                let title = splitLibraryPath(path).name
                let sources = encoding == nil ? files[range] : []
                try await meter.writing(absolute, of: sources, named: title, size: size) {
                    try await write(
                        plan, range, &packets, pictureOf: parts[range.lowerBound], number: index, of: ranges.count,
                        to: absolute)
                }
                meter.finish(sources)
                let facts = try await runBlocking { try Self.synced(absolute) }
                made.append(
                    (
                        JoinedFile(
                            path: temporary, book: book, size: facts.size, modificationTime: facts.modificationTime,
                            madeOf: plan.madeOf), path
                    ))
                (outcomes[index].result, outcomes[index].size) = (.written, facts.size)
            }
            try await publish(made, plan, store)
            return outcomes
        }
        if let encoding { for file in files { unlink(intermediate(of: file, as: encoding)) } }
        return outcomes
    }

    // MARK: - Inputs

    /// What is to be joined, of files that are what the store says.
    /// - Parameter trustsXing: as in ``MediaProbe/part(_:known:trustsXing:)``.
    private func measured(_ plan: JoinPlan, store: CatalogStore) async throws -> [AudioPart] {
        try await ordered(plan.episodes.map(\.file)) { [library] file in
            let path = library + "/" + file.path
            guard try await runBlocking({ fileSize(path) }) == file.size else {
                throw Failure(
                    .temporary, what: "\(plan.book.title) is not joined", why: "\(file.path) is not what was fetched",
                    remedy: "booksync verify tells more")
            }
            return try await probe.part(path, known: try await store.media(of: file.episode))
        }
    }

    /// Which episodes go into which file.
    private func split(_ parts: [AudioPart]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var (start, seconds) = (0, 0.0)
        for (index, part) in parts.enumerated() {
            if index > start, seconds + part.seconds > request.maxPart ?? .infinity {
                ranges.append(start..<index)
                (start, seconds) = (index, 0)
            }
            seconds += part.seconds
        }
        return ranges + [start..<parts.count]
    }

    // MARK: - Encoding

    private func intermediate(of file: LocalFile, as encoding: JoinEncoding) -> String {
        let digest = SHA256.hash(data: Data("\(file.sha256) \(encoding)".utf8)).hexadecimal
        return "\(workFolder)/\(digest).\(encoding.format.rawValue)"
    }

    /// Encodes each file that has not been encoded yet.
    private func encoded(
        _ parts: [AudioPart], _ files: [LocalFile], as encoding: JoinEncoding, _ meter: JoinMeter
    ) async throws -> [AudioPart] {
        try await ordered(Array(zip(parts, files))) { part, file in
            let path = intermediate(of: file, as: encoding)
            if try await runBlocking({ fileSize(path) }) == nil {
                let size = Int64(part.seconds * Double(encoding.bitRate) / 8)
                let name = splitLibraryPath(file.path).name
                try await meter.writing(path + ".new", of: [file], named: name, size: size) {
                    try await probe.encode(part, as: encoding, to: path + ".new")
                }
                let made = try await probe.part(path + ".new")
                guard made.seconds > part.seconds - 1 else {
                    unlink(path + ".new")
                    let (has, says) = (describeSeconds(made.seconds), describeSeconds(part.seconds))
                    throw Failure(
                        .inputOutput, what: "\(part.path) cannot be read as audio",
                        why: "it has \(has) of audio, and its header says \(says)",
                        remedy: "check the disk and the file, or download it again")
                }
                try await runBlocking {
                    _ = try Self.synced(path + ".new")
                    try systemCall("\(path) cannot be made") { rename(path + ".new", path) }
                }
            }
            meter.finish([file])
            return try await probe.part(path)
        }
    }

    /// What the body makes of each, in their order; the probe's slots say how many at once.
    private func ordered<Input: Sendable, Output: Sendable>(
        _ inputs: [Input], _ body: @escaping @Sendable (Input) async throws -> Output
    ) async throws -> [Output] {
        try await withThrowingTaskGroup(of: (Int, Output).self) { group in
            for (index, input) in inputs.enumerated() { group.addTask { (index, try await body(input)) } }
            var outputs = [Output?](repeating: nil, count: inputs.count)
            for try await (index, output) in group { outputs[index] = output }
            return outputs.compactMap(\.self)
        }
    }

    // MARK: - Writing

    /// Writes one file. Where an MP3 turns out to have another length than its header says, all are measured again.
    private func write(
        _ plan: JoinPlan, _ range: Range<Int>, _ parts: inout [AudioPart], pictureOf first: AudioPart, number: Int,
        of count: Int, to path: String
    ) async throws {
        var tags = plan.tags
        tags.tags["album"] = plan.book.title
        if count > 1 {
            tags.tags["title"] = "\(plan.book.title) (\(number + 1)/\(count))"
            tags.tags["track"] = "\(number + 1)/\(count)"
        }
        for isLast in [false, true] {
            tags.chapters = plan.chapters(range, parts, own: parts.map(\.info.chapters))
            let seconds = try await probe.join(
                Array(parts[range]), as: request.format, with: tags, pictureOf: first, to: path)
            let expected = parts[range].reduce(0) { $0 + $1.seconds }
            if abs(seconds - expected) < 0.2 { return }
            guard !isLast else {
                let (has, says) = (describeSeconds(seconds), describeSeconds(expected))
                throw notJoined(plan, why: "it has \(has) of audio, and its episodes have \(says)", remedy: nil)
            }
            parts = try await ordered(parts) { try await probe.part($0.path, known: $0.info, trustsXing: false) }
        }
    }

    private func temporaryPath(for path: String) -> String {
        let name = SHA256.hash(data: Data(path.utf8)).hexadecimal.prefix(32) + "." + request.format.rawValue
        return path.hasPrefix("/") ? "\(splitLibraryPath(path).folder)/.booksync-\(name)" : "\(Self.workPath)/\(name)"
    }

    /// Puts the files into their places, and deletes those that they replace.
    private func publish(_ made: [(temporary: JoinedFile, path: String)], _ plan: JoinPlan, _ store: CatalogStore)
        async throws
    {
        let library = library
        try await store.recordJoinedFiles(plan.recorded + made.map(\.temporary), of: plan.book.identity)
        for (file, path) in made {
            if let failure = obstacle(at: path, plan) { throw failure }
            try await runBlocking {
                let (folder, name) = splitLibraryPath(path)
                let directory =
                    path.hasPrefix("/")
                    ? try LibraryDirectory("", in: String(folder), creating: false)
                    : try LibraryDirectory(folder, in: library)
                try directory.receive(file.absolutePath(in: library), as: name, replaces: true)
                try directory.sync()
            }
        }
        let paths = Set(made.map(\.path))
        let (own, others) = (plan.recorded.filter { replaces($0, plan) }, plan.recorded.filter { !replaces($0, plan) })
        let new = made.map { file, path in
            var file = file
            file.path = path
            return file
        }
        try await store.recordJoinedFiles(others.filter { !paths.contains($0.path) } + new, of: plan.book.identity)
        try await runBlocking {
            for old in own where !paths.contains(old.path) && old.isUntouched(in: library) {
                unlink(old.absolutePath(in: library))
                if !old.path.hasPrefix("/") { try removeEmptyFolders(splitLibraryPath(old.path).folder, in: library) }
            }
        }
    }

    /// Whether a file was made earlier of the same book in the same way: into the same folder, under other names maybe.
    private func replaces(_ old: JoinedFile, _ plan: JoinPlan) -> Bool {
        let isOurs = old.path.hasPrefix(Self.workPath) || old.path.contains("/.booksync-")
        let root = request.output == nil ? LibraryFolder.joinedPath : splitLibraryPath(plan.stem).folder + "/"
        return isOurs || old.path.hasPrefix(root) && old.path.hasSuffix("." + request.format.rawValue)
    }

    private static func synced(_ path: String) throws -> FileAttributes {
        let descriptor = try systemCall("\(path) cannot be opened") { open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
        defer { close(descriptor) }
        try systemCall("\(path) cannot be synced") { fsync(descriptor) }
        var status = stat()
        try systemCall("\(path) cannot be looked at") { fstat(descriptor, &status) }
        return FileAttributes(status)
    }

    // MARK: - What keeps a book from being joined

    /// Why nothing may be written there: what stands there is not what booksync made of the book.
    private func obstacle(at path: String, _ plan: JoinPlan) -> Failure? {
        var status = stat()
        guard lstat(path.hasPrefix("/") ? path : library + "/" + path, &status) == 0 else { return nil }
        let facts = FileAttributes(status)
        let isFile = facts.kind == .file
        if isFile, request.force || plan.recorded.contains(where: { $0.isSame(as: facts) }) { return nil }
        let isKnown = plan.recorded.contains { $0.path == path }
        return Failure(
            .temporary, what: "\(path) is left as it is",
            why: !isFile
                ? "a folder or a link stands there"
                : isKnown ? "it was changed since booksync wrote it" : "booksync did not write it",
            remedy: isFile ? "move it away, or run booksync join --force to overwrite it" : "move it away")
    }

    /// - Parameter encoding: whether all is written twice.
    private func requireRoom(for outcomes: [JoinOutcome], encoding: Bool, _ plan: JoinPlan) throws {
        let size = outcomes.reduce(0) { $0 + ($1.size ?? 0) }
        var needed = [(request.output ?? library, size)]
        if encoding { needed.append((library, request.output == nil ? size * 2 : size)) }
        for (folder, bytes) in needed {
            let space = try DiskSpace(of: folder)
            let wanted = configuration.downloads.minFreeSpace
            guard let missing = space.missing(for: bytes, leaving: wanted) else { continue }
            throw Failure.lackOfRoom(
                "\(plan.book.title) is not joined",
                why: "\(describeBytes(space.free)) are free, \(describeBytes(bytes)) are needed, "
                    + "and \(describeBytes(space.reserve(of: wanted))) are to stay free: \(describeBytes(missing)) are missing",
                remedy: "make room, or lower downloads.min-free-space, and join again")
        }
    }

    private func notJoined(_ plan: JoinPlan, why: Message, remedy: Message?) -> Failure {
        Failure(.temporary, what: "\(plan.book.title) is not joined", why: why, remedy: remedy)
    }
}

extension BookJoin {
    /// Joins the books of a run that are complete and have changed since, as `downloads.join` says. No failure is the run's.
    static func execute(
        _ books: Set<BookIdentity>, _ configuration: Configuration, _ joiner: MediaProbe?, in session: LibrarySession,
        notice: @Sendable (Message) -> Void
    ) async {
        guard let format = JoinFormat(rawValue: configuration.downloads.join.rawValue) else { return }
        guard let joiner else { return notice("books are not joined (downloads.join): ffmpeg is not installed") }
        var request = JoinRequest(format: format)
        request.isIncomplete = nil
        let join = BookJoin(configuration: configuration, request: request, probe: joiner)
        do {
            for book in books.sorted(by: { "\($0)" < "\($1)" }) where !Task.isCancelled {
                for outcome in try await join.outcomes(of: book, store: session.store) {
                    if let failure = outcome.failure { notice("\(failure)") }
                    guard outcome.result == .written, let path = outcome.path else { continue }
                    notice("joined \(Message(outcome.episodes ?? 0, "episode")) into \(path)")
                }
            }
        } catch {
            if !(error is CancellationError) { notice("\(Failure.of(error))") }
        }
    }
}
