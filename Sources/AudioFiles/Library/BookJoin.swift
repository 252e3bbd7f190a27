import BookModel
import CatalogStore
import Crypto
import Foundation
import LibraryFiles
import Synchronization

/// Makes one file, or several, of the episodes of a book. The caller holds the library's lock, except for a dry run and to prepare.
///
/// What cannot be copied is encoded into a file of its own for each episode, which stays until the book is joined: a join that is
/// interrupted continues behind the last of them, and after a preparation only packets are copied. The result is written beside its
/// place and recorded there with size and time, then renamed, then recorded in its place: after a kill, the file in that place is one
/// of those recorded.
package struct BookJoin: Sendable {
    package let library: String
    package let request: JoinRequest
    private let minFreeSpace: Int64
    private let probe: MediaProbe
    private let report: @Sendable (ProgressState) -> Void
    private let readParts = ReadParts()
    private var workFolder: String { library + "/" + LibraryFolder.joiningPath }

    /// - Parameters:
    ///   - library: absolute.
    ///   - probe: with ffmpeg.
    ///   - minFreeSpace: bytes that stay free on its disk.
    package init(
        library: String, request: JoinRequest, probe: MediaProbe, minFreeSpace: Int64,
        report: @escaping @Sendable (ProgressState) -> Void = { _ in }
    ) {
        (self.library, self.minFreeSpace, self.request) = (library, minFreeSpace, request)
        (self.probe, self.report) = (probe, report)
    }

    /// Joins the books, one after another.
    /// - Parameters:
    ///   - onlyComplete: whether those are left without a word of which episodes are missing.
    ///   - tell: is told what became of each file, and of a book that failed.
    /// - Throws: ``Failure`` that would meet every other book, and `CancellationError`.
    package func execute(
        _ books: [BookIdentity], store: CatalogStore, onlyComplete: Bool = false, tell: (JoinOutcome) async -> Void
    ) async throws {
        for identity in books {
            try Task.checkCancellation()
            do {
                guard let book = try await store.book(identity) else { throw Failure.notOnTheShelf(identity) }
                let plan = try await JoinPlan(of: book, request, in: library, store: store)
                if onlyComplete, !plan.missing.isEmpty || plan.files.isEmpty { continue }
                for outcome in try await joinReadable(plan, store) { await tell(outcome) }
            } catch let failure as Failure where ![.configuration, .libraryUnwritable].contains(failure.kind) {
                await tell(JoinOutcome(book: identity, result: .failed, failure: failure))
            }
        }
    }

    /// Encodes the episodes of the books, which takes most of the time of a join. It needs no lock, so runs go on.
    ///
    /// Failures are left to ``execute(_:store:onlyComplete:tell:)``, which meets and reports them.
    /// - Throws: `CancellationError`.
    package func prepare(_ books: [BookIdentity], store: CatalogStore) async throws {
        for identity in books {
            try Task.checkCancellation()
            do {
                guard let book = try await store.book(identity) else { continue }
                try await prepare(try await JoinPlan(of: book, request, in: library, store: store), store)
            } catch is Failure {
                continue
            }
        }
    }

    private func prepare(_ plan: JoinPlan, _ store: CatalogStore) async throws {
        guard try await runBlocking({ [library, plan] in plan.upToDate(in: library) }) == nil else { return }
        do {
            let layout = try await layout(of: plan, store)
            guard let encoding = layout.encoding, !layout.isLeft else { return }
            let use = try await runBlocking {
                try requireRoom(for: layout.outcomes, plan, encoding)
                try LibraryFolder.makeFolder(workFolder, in: library)
                return JoiningUse(of: workFolder, LOCK_SH)
            }
            defer { use?.end() }
            let meter = JoinMeter(plan.files, report: report)
            try await meter.telling { _ = try await encoded(layout.parts, plan.files, as: encoding, meter) }
        } catch let unreadable as UnreadableEpisodes {
            try await prepare(plan.without(Set(unreadable.failures.keys)), store)
        }
    }

    /// Joins what of the book is audio, where the request allows that something is missing.
    private func joinReadable(_ plan: JoinPlan, _ store: CatalogStore) async throws -> [JoinOutcome] {
        var (plan, left) = (plan, [JoinOutcome]())
        while true {
            if let made = try await runBlocking({ [library, plan] in plan.upToDate(in: library) }) {
                return left
                    + made.map {
                        JoinOutcome(
                            book: plan.book.identity, result: .unchanged, path: $0.path, parts: made.count,
                            size: $0.size)
                    }
            }
            do {
                return left + (try await join(plan, store))
            } catch let unreadable as UnreadableEpisodes {
                left += unreadable.failures.sorted { $0.key < $1.key }.map { index, failure in
                    JoinOutcome(
                        book: plan.book.identity, result: .leftOut, failure: failure, path: plan.files[index].path)
                }
                plan = plan.without(Set(unreadable.failures.keys))
            }
        }
    }

    /// Those that a book is joined without.
    private struct UnreadableEpisodes: Error {
        /// By the index of the file.
        let failures: [Int: Failure]
    }

    /// What was made of a book and is still there.
    /// - Returns: `isUpToDate` says whether it is of the episodes as they are now, whatever it was made with.
    package func existing(of book: Book, store: CatalogStore) async throws -> (files: [JoinedFile], isUpToDate: Bool) {
        // The page of a book looks at all of its episodes only where something was made of them.
        guard try await !store.joinedFiles(of: book.identity).isEmpty else { return ([], false) }
        let plan = try await JoinPlan(of: book, request, in: library, store: store)
        return try await runBlocking { [library, request] in
            if let made = plan.upToDate(in: library) { return (made, true) }
            let made = plan.ofSameEpisodes(in: library)
            if !made.isEmpty { return (made, true) }
            let old = plan.recorded.filter {
                $0.path.hasPrefix(plan.stem) && $0.path.hasSuffix(".\(request.format)") && $0.isUntouched(in: library)
            }
            return (old, false)
        }
    }

    /// Joins those books of a run that are complete and changed since. No failure is the run's.
    package func execute(after books: [BookIdentity], store: CatalogStore, notice: (Message) -> Void) async {
        do {
            try await execute(books, store: store, onlyComplete: true) { outcome in
                if let failure = outcome.failure { notice("\(failure)") }
                guard outcome.result == .written, let path = outcome.path, let range = outcome.range else { return }
                notice("joined \(Message(range.count, "episode")) into \(path)")
            }
        } catch {
            if !(error is CancellationError) { notice("\(Failure.of(error))") }
        }
    }

    /// The files to write, and the parts they are made of.
    private struct Layout {
        var parts: [AudioPart]
        /// nil if packets are copied.
        var encoding: JoinEncoding?
        var outcomes: [JoinOutcome]

        var isLeft: Bool { outcomes.contains { $0.result == .left } }
    }

    private func layout(of plan: JoinPlan, _ store: CatalogStore) async throws -> Layout {
        guard !plan.files.isEmpty, plan.missing.isEmpty || request.isIncomplete else {
            throw notJoined(
                plan, why: "not on disk: \(SectionRanges(of: plan.missing.map(\.section)))",
                remedy: "fetch what is missing and not locked, or join what is there with --incomplete")
        }
        let parts = try await parts(of: plan, store)
        var encoding: JoinEncoding?
        if request.loudness != nil || !AudioPart.canCopy(parts, into: request.format) {
            encoding = JoinEncoding(of: parts, as: request.format, bitRate: request.bitRate, loudness: request.loudness)
        }
        let ranges = ranges(of: parts)
        let paths = plan.paths(ranges.count, as: request.format)
        let obstacles = try await runBlocking { paths.map { obstacle(at: $0, plan) } }
        let outcomes = zip(zip(ranges, paths), obstacles).map { place, failure in
            let (range, path) = place
            let seconds = parts[range].reduce(0) { $0 + $1.seconds }
            let copied = plan.files[range].saturatedSum(of: \.size)
            return JoinOutcome(
                book: plan.book.identity, result: failure == nil ? .planned : .left, failure: failure, path: path,
                parts: ranges.count, range: range, seconds: seconds,
                size: encoding.map { Int64(clamping: seconds * Double($0.bitRate) / 8) } ?? copied,
                isEncoded: encoding != nil)
        }
        return Layout(parts: parts, encoding: encoding, outcomes: outcomes)
    }

    private func join(_ plan: JoinPlan, _ store: CatalogStore) async throws -> [JoinOutcome] {
        let layout = try await layout(of: plan, store)
        let (parts, encoding) = (layout.parts, layout.encoding)
        var outcomes = layout.outcomes
        if request.isDryRun || layout.isLeft {
            return layout.isLeft ? outcomes.filter { $0.result == .left } : outcomes
        }
        try await runBlocking { [outcomes] in
            try requireRoom(for: outcomes, plan, encoding)
            try LibraryFolder.makeFolder(workFolder, in: library)
        }
        let meter = JoinMeter(plan.files, report: report)
        try await meter.telling {
            let packets = if let encoding { try await encoded(parts, plan.files, as: encoding, meter) } else { parts }
            var made: [JoinedFile] = []
            for (index, outcome) in outcomes.enumerated() {
                let file = try await write(outcome, number: index, plan, packets, pictureOf: parts, meter)
                (outcomes[index].result, outcomes[index].size) = (.written, file.size)
                made.append(file)
            }
            try await publish(made, at: outcomes.compactMap(\.path), plan, store)
        }
        if let encoding {
            try await runBlocking {
                for file in plan.files { unlink(intermediate(of: file, as: encoding)) }
            }
        }
        return outcomes
    }

    /// What is to be joined, of files that are what the store says.
    private func parts(of plan: JoinPlan, _ store: CatalogStore) async throws -> [AudioPart] {
        try await readable(plan.files) { _, file in
            let path = library + "/" + file.path
            let attributes = try await runBlocking { fileAttributes(path) }
            guard let attributes, attributes.size == file.size else {
                throw notJoined(
                    plan, why: "\(file.path) is not there as it was fetched", remedy: "booksync verify tells more",
                    reason: .unreadableAudio)
            }
            return try await readParts.part(path, attributes) {
                // Nothing is left out by what is known of an earlier day, and nobody encodes the others in vain.
                let known = try await request.isIncomplete ? nil : store.media(of: file.episode)
                return try await probe.part(path, known: known)
            }
        }
    }

    /// Which episodes go into which file.
    private func ranges(of parts: [AudioPart]) -> [Range<Int>] {
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

    /// What the body makes of each that is audio, in their order; so many at once that the probe has no queue.
    /// - Parameter first: the index of the first among the book's files.
    /// - Throws: ``UnreadableEpisodes`` where others are, and the book is joined without those that are not.
    private func readable<Input: Sendable>(
        _ inputs: [Input], from first: Int = 0,
        _ body: @escaping @Sendable (_ index: Int, Input) async throws -> AudioPart
    ) async throws -> [AudioPart] {
        let isIncomplete = request.isIncomplete
        let results = try await inputs.enumerated().concurrentMap(atOnce: 2) {
            index, input -> Result<AudioPart, Failure> in
            do {
                return .success(try await body(index, input))
            } catch let failure as Failure where isIncomplete && failure.reason == .unreadableAudio {
                return .failure(failure)
            }
        }
        var failures: [Int: Failure] = [:]
        for (index, result) in results.enumerated() {
            if case .failure(let failure) = result { failures[first + index] = failure }
        }
        if !failures.isEmpty, failures.count < inputs.count { throw UnreadableEpisodes(failures: failures) }
        return try results.map { try $0.get() }
    }

    // MARK: - Encoding

    private func intermediate(of file: LocalFile, as encoding: JoinEncoding) -> String {
        let digest = SHA256.hash(data: Data("\(file.fetchedSHA256) \(encoding)".utf8)).hexadecimal
        return "\(workFolder)/\(digest).\(encoding.format.rawValue)"
    }

    /// Deletes what joins that were killed were writing; what they had encoded stays for the next one. The caller holds the
    /// library's lock.
    package static func removeUnfinished(in library: String) async throws {
        let folder = "\(library)/\(LibraryFolder.joiningPath)"
        try await runBlocking {
            // Without the lock another process is encoding.
            guard let use = JoiningUse(of: folder, LOCK_EX | LOCK_NB) else { return }
            defer { use.end() }
            // Whether it is missing or cannot be read: that is for a join to say, and keeps nobody else from working.
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            for name in names where name.hasSuffix(".new") || name.hasPrefix(".booksync-") {
                unlink("\(folder)/\(name)")
            }
        }
    }

    /// Encodes each file that has not been encoded yet.
    private func encoded(
        _ parts: [AudioPart], _ files: [LocalFile], as encoding: JoinEncoding, _ meter: JoinMeter
    ) async throws -> [AudioPart] {
        try await readable(files) { index, file in
            let part = parts[index]
            let path = intermediate(of: file, as: encoding)
            if let attributes = try await runBlocking({ fileAttributes(path) }) {
                defer { meter.finish([file]) }
                return try await readParts.part(path, attributes) { try await probe.part(path) }
            }
            // Another process may encode the same.
            let new = "\(path).\(String(UInt64.random(in: 0 ... .max), radix: 36)).new"
            let size = Int64(clamping: part.seconds * Double(encoding.bitRate) / 8)
            defer { unlink(new) }
            var made = try await meter.writing(new, named: splitLibraryPath(file.path).name, of: [file], size: size) {
                try await probe.encode(part, as: encoding, to: new)
                return try await probe.part(new)
            }
            guard made.seconds > part.seconds - 1 else {
                let (has, says) = (describeSeconds(made.seconds), describeSeconds(part.seconds))
                throw Failure(
                    .inputOutput, what: "\(part.path) cannot be read as audio",
                    why: "it has \(has) of audio, and its header says \(says)",
                    remedy: "check the disk and the file, or download it again", reason: .unreadableAudio)
            }
            let attributes = try await runBlocking {
                let attributes = try Self.synced(new)
                try systemCall("\(path) cannot be made") { rename(new, path) }
                return attributes
            }
            made.path = path
            readParts.record(made, attributes)
            return made
        }
    }

    // MARK: - Writing

    /// Writes one file beside its place, as it is to be. Where a file has another length than its header says, all are measured.
    private func write(
        _ outcome: JoinOutcome, number: Int, _ plan: JoinPlan, _ parts: [AudioPart], pictureOf originals: [AudioPart],
        _ meter: JoinMeter
    ) async throws -> JoinedFile {
        guard let path = outcome.path, let range = outcome.range else {
            throw notJoined(plan, why: "there is no such file", remedy: nil)
        }
        let name =
            ".booksync-" + SHA256.hash(data: Data(path.utf8)).hexadecimal.prefix(32) + "." + request.format.rawValue
        let folder = path.hasPrefix("/") ? splitLibraryPath(path).folder : LibraryFolder.joiningPath[...]
        let temporary = folder + "/" + name
        let absolute = temporary.hasPrefix("/") ? temporary : library + "/" + temporary
        var tags = plan.tags
        if outcome.parts > 1 {
            tags.tags["title"] = "\(plan.book.title) (\(number + 1)/\(outcome.parts))"
            tags.tags["track"] = "\(number + 1)/\(outcome.parts)"
        }
        let copied = outcome.isEncoded == true ? [] : plan.files[range]
        try await meter.writing(absolute, named: splitLibraryPath(path).name, of: copied, size: outcome.size ?? 0) {
            var packets = Array(parts[range])
            for isMeasured in [false, true] {
                tags.chapters = plan.chapters(range, packets, own: originals)
                let seconds: Double
                do {
                    seconds = try await probe.join(
                        packets, as: request.format, with: tags, pictureOf: originals[range.lowerBound], to: absolute)
                } catch let failure as Failure where failure.kind == .inputOutput && !isMeasured {
                    // Who measures them finds the one that cannot be read, where that is why.
                    seconds = -1
                }
                let expected = packets.reduce(0) { $0 + $1.seconds }
                if abs(seconds - expected) < 0.2 { return }
                let (has, says) = (describeSeconds(seconds), describeSeconds(expected))
                if isMeasured {
                    throw notJoined(plan, why: "it has \(has) of audio, and its episodes have \(says)", remedy: nil)
                }
                packets = try await readable(packets, from: range.lowerBound) {
                    try await probe.part($1.path, known: $1.info, trustsHeader: false)
                }
            }
        }
        let facts = try await runBlocking { try Self.synced(absolute) }
        return JoinedFile(
            path: temporary, book: plan.book.identity, size: facts.size, modificationTime: facts.modificationTime,
            madeOf: plan.madeOf)
    }

    /// Puts the files into their places, and deletes those that they replace.
    private func publish(
        _ made: [JoinedFile], at paths: [String], _ plan: JoinPlan, _ store: CatalogStore
    ) async throws {
        try await store.recordJoinedFiles(plan.recorded + made, of: plan.book.identity)
        for (file, path) in zip(made, paths) {
            try await runBlocking {
                if let failure = obstacle(at: path, plan) { throw failure }
                let (folder, name) = splitLibraryPath(path)
                let directory =
                    path.hasPrefix("/")
                    ? try LibraryDirectory("", in: String(folder), creating: false)
                    : try LibraryDirectory(folder, in: library)
                try directory.receive(file.absolutePath(in: library), as: name, replaces: true)
                try directory.sync()
            }
        }
        let new = zip(made, paths).map { file, path in
            JoinedFile(
                path: path, book: file.book, size: file.size, modificationTime: file.modificationTime,
                madeOf: file.madeOf)
        }
        // What was made earlier in the same way, under another name maybe, or announced by a run that was killed.
        let root = request.output == nil ? LibraryFolder.joinedPath : String(splitLibraryPath(plan.stem).folder)
        let old = plan.recorded.filter { file in
            paths.contains(file.path) || file.path.contains(".booksync")
                || file.path.hasPrefix(root) && file.path.hasSuffix("." + request.format.rawValue)
        }
        try await store.recordJoinedFiles(plan.recorded.filter { !old.contains($0) } + new, of: plan.book.identity)
        try await runBlocking {
            for file in old where !paths.contains(file.path) && file.isUntouched(in: library) {
                unlink(file.absolutePath(in: library))
                if !file.path.hasPrefix("/") { try removeEmptyFolders(splitLibraryPath(file.path).folder, in: library) }
            }
        }
    }

    private static func synced(_ path: String) throws -> FileAttributes {
        let descriptor = try opened(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        defer { close(descriptor) }
        try systemCall("\(path) cannot be synced") { fsync(descriptor) }
        return try fileAttributes(of: descriptor, at: path)
    }

    // MARK: - What keeps a book from being joined

    /// Why nothing may be written there: what stands there is not what booksync made of the book.
    private func obstacle(at path: String, _ plan: JoinPlan) -> Failure? {
        let absolute = path.hasPrefix("/") ? path : library + "/" + path
        guard let facts = fileAttributes(absolute, followsLink: false) else { return nil }
        let isFile = facts.kind == .file
        if isFile, request.force || plan.recorded.contains(where: { $0.isSame(as: facts) }) { return nil }
        let isKnown = plan.recorded.contains { $0.path == path }
        let whose: Message = isKnown ? "it was changed since booksync wrote it" : "booksync did not write it"
        return Failure(
            .temporary, what: "\(path) is left as it is", why: isFile ? whose : "a folder or a link stands there",
            remedy: isFile ? "move it away, or run booksync join --force to overwrite it" : "move it away")
    }

    /// Encoded episodes are written twice: by themselves, and joined.
    private func requireRoom(for outcomes: [JoinOutcome], _ plan: JoinPlan, _ encoding: JoinEncoding?) throws {
        let written = outcomes.saturatedSum { $0.size ?? 0 }
        let encoded: Int64 =
            encoding.map { encoding in
                let existing = plan.files.saturatedSum { fileSize(intermediate(of: $0, as: encoding)) ?? 0 }
                return max(0, written.subtractingSaturated(existing))
            } ?? 0
        for (folder, bytes) in [
            (request.output ?? library, written),
            (library, request.output == nil ? written.addingSaturated(encoded) : encoded),
        ] {
            guard let why = try DiskSpace(of: folder).lack(for: bytes, leaving: minFreeSpace) else { continue }
            throw Failure.lackOfRoom("\(plan.book.title) is not joined", why: why, leaving: minFreeSpace)
        }
    }

    private func notJoined(_ plan: JoinPlan, why: Message, remedy: Message?, reason: Failure.Reason? = nil) -> Failure {
        Failure(.temporary, what: "\(plan.book.title) is not joined", why: why, remedy: remedy, reason: reason)
    }
}

/// The facts of the files that are joined: each file is read once, to prepare a join and to carry it out, while the disk shows that
/// it is the same.
private final class ReadParts: Sendable {
    /// By their paths.
    private let parts = Mutex<[String: (part: AudioPart, attributes: FileAttributes)]>([:])

    func part(
        _ path: String, _ attributes: FileAttributes, read: () async throws -> AudioPart
    ) async throws -> AudioPart {
        if let known = parts.withLock({ $0[path] }), known.attributes == attributes { return known.part }
        let part = try await read()
        record(part, attributes)
        return part
    }

    func record(_ part: AudioPart, _ attributes: FileAttributes) {
        parts.withLock { $0[part.path] = (part, attributes) }
    }
}

/// A lock (`flock`) on the folder of encoded episodes, which ends with the process: shared for those who write into it, exclusive
/// to clean up. All calls block on the disk.
private struct JoiningUse: Sendable {
    private let descriptor: Int32

    /// - Returns: nil if the lock is not available, or the folder does not exist.
    init?(of folder: String, _ operation: Int32) {
        descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, operation) == 0 else {
            close(descriptor)
            return nil
        }
    }

    func end() {
        // A child process between fork and exec shares the descriptor; closing alone would leave it the lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
