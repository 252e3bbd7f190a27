import BookModel
import CatalogStore
import Crypto
import Foundation
import LibraryFiles

/// Embeds tags in the files of a library, and takes them out again.
///
/// A new file is made beside the old one, of the same audio packets, and takes its place when all is found right: tags, chapters
/// and cover are read back, nothing that the file had is lost, and what it was when it was fetched can be made of it again, byte for
/// byte, from what is kept in ``originalsFolder``. Whoever is killed leaves the old file or the new one.
///
/// Whoever calls this holds the library's lock.
package struct FileTagging: Sendable {
    package enum Outcome: Sendable, Hashable {
        /// With the names of what was written.
        case tagged([String])
        case restored
        case unchanged
    }

    /// Relative to the library: a ``FileDelta`` for each file with embedded tags.
    static let originalsFolder = ".booksync/originals"

    private let probe: MediaProbe
    /// Absolute.
    private let library: String
    private let store: CatalogStore
    /// Whether a file with other names elsewhere gets tags too; these are left with what it was.
    private let copies: Bool

    package init(_ probe: MediaProbe, library: String, store: CatalogStore, copies: Bool = false) {
        (self.probe, self.library, self.store, self.copies) = (probe, library, store, copies)
    }

    /// What the file lacks of the tags; nothing where they cannot be written into a file of its kind.
    package func missing(_ tags: EmbeddedTags, in file: LocalFile) async throws -> [String] {
        let info = try await probe.info(of: absolute(file.path))
        return MediaContainer(info).map { $0.writable(tags).missing(in: info) } ?? []
    }

    /// - Parameter promised: the catalog's digest of the episode.
    /// - Throws: ``Failure``, and the file is as it was; `CancellationError`.
    package func embed(_ tags: EmbeddedTags, in file: LocalFile, promised: ContentDigest?) async throws -> Outcome {
        let info = try await probe.info(of: absolute(file.path))
        let wanted = MediaContainer(info)?.writable(tags) ?? tags
        let missing = wanted.missing(in: info)
        guard !missing.isEmpty else { return .unchanged }
        return try await making(file) { work in
            let facts = try await look(at: file)
            let original = try await original(of: file, in: work)
            let new = "\(work)/new"
            let before = file.original == nil ? info : try await probe.info(of: original)
            try await probe.tag(original, before, with: wanted, to: new)
            let (stream, newInfo) = try await requireSame(original, before, new, wanted)
            var tagged = file
            tagged.original =
                file.original
                ?? LocalFile.Original(size: file.size, sha256: file.sha256, streamSHA256: stream)
            let hadPromised = file.verification == .digest ? promised : nil
            let mark = tagged.original.map { FileMark.Original($0, promised: hadPromised) }
            tagged = try await finished(new, as: tagged, mark, insteadOf: file, facts)
            let (delta, name) = ("\(work)/delta", Self.deltaName(of: tagged))
            try await runBlocking { [library, tagged] in
                try FileDelta.write(of: original, from: new, to: delta)
                var digest = SHA256()
                try FileDelta.read(delta, from: new) { digest.update(data: $0) }
                guard digest.finalize().hexadecimal == tagged.original?.sha256 else {
                    throw Failure(
                        .defect, what: "\(file.path) gets no tags", why: "what it was cannot be made of it again")
                }
                try LibraryDirectory.put(
                    delta, at: "\(Self.originalsFolder)/\(name)", in: library, replaces: true)
            }
            try await publish(new, as: tagged, newInfo, insteadOf: file, facts)
            return .tagged(missing)
        }
    }

    /// Puts the file back that was fetched.
    package func restore(_ file: LocalFile) async throws -> Outcome {
        guard file.original != nil else { return .unchanged }
        return try await making(file) { work in
            let facts = try await look(at: file)
            let original = try await original(of: file, in: work)
            var restored = file
            restored.original = nil
            restored = try await finished(original, as: restored, nil, insteadOf: file, facts)
            let info = try await probe.info(of: original)
            try await publish(original, as: restored, info, insteadOf: file, facts)
            return .restored
        }
    }

    /// Deletes what a process that was killed was making, be it to tag, to adopt or to move.
    package static func removeUnfinished(in library: String) async throws {
        try await runBlocking { try removeFolder(library + "/" + LibraryFolder.workPath) }
    }

    /// Records a file that was about to take its place where it is there, and else forgets it.
    /// - Parameter found: what stands in its place, where that is the file.
    package static func settle(_ operation: FileOperation, as found: ExaminedFile?, store: CatalogStore) async throws {
        var operation = operation
        guard let found else { return try await store.drop([operation]) }
        let announced = operation.file
        operation.file.use(found.facts)
        // It may be made of what the user edited and had accepted: it counts as edited.
        if announced.verification == .unverified { operation.file.modificationTime = announced.modificationTime }
        try await store.complete([operation])
    }

    // MARK: - Steps

    /// Has a folder of its own for as long as `body` takes.
    private func making(_ file: LocalFile, _ body: (String) async throws -> Outcome) async throws -> Outcome {
        let name = "\(LibraryFolder.workPath)/\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        let work = absolute(name)
        try await runBlocking { [library] in _ = try LibraryDirectory(name[...], in: library) }
        let outcome = await Result.of { try await body(work) }
        try await runBlocking { try Self.removeFolder(work) }
        return try outcome.get()
    }

    private func look(at file: LocalFile) async throws -> FileAttributes {
        let path = absolute(file.path)
        return try await runBlocking { [copies] in
            var status = stat()
            try systemCall("\(path) cannot be looked at") { lstat(path, &status) }
            let facts = FileAttributes(status)
            // One that was only touched, or accepted as it is, has another time than is recorded, and the recorded bytes.
            guard facts.kind == .file, facts.size == file.size,
                try facts.modificationTime == file.modificationTime || Self.digest(of: path) == file.sha256
            else {
                throw Failure.left(
                    file, why: "it was changed since it was recorded",
                    remedy: "booksync verify --accept takes it as it is")
            }
            guard status.st_nlink == 1 || copies else {
                throw Failure.left(
                    file, why: "the same file has another name elsewhere",
                    remedy: "--copy makes it a file of its own, and leaves the other as it is")
            }
            return facts
        }
    }

    /// The absolute path of what was fetched: the file itself, or what is made of it.
    private func original(of file: LocalFile, in work: String) async throws -> String {
        let path = absolute(file.path)
        // Some formats are told by the file's extension too.
        let restored =
            "\(work)/original.\(splitLibraryPath(file.path).name.split(separator: ".").last?.suffix(8) ?? "")"
        let delta = absolute("\(Self.originalsFolder)/\(Self.deltaName(of: file))")
        return try await runBlocking {
            if file.original != nil { try FileDelta.restore(delta, from: path, to: restored) }
            let source = file.original == nil ? path : restored
            guard try Self.digest(of: source) == file.fetchedSHA256 else {
                throw Failure.left(
                    file, why: "its bytes are not those that were recorded",
                    remedy: "booksync verify --repair fetches it again")
            }
            return source
        }
    }

    /// Makes sure that the audio is the same, that all that was wanted is there, and nothing lost.
    /// - Returns: the digest of the audio stream, and what the new file says of itself.
    private func requireSame(
        _ original: String, _ before: MediaInfo, _ new: String, _ tags: EmbeddedTags
    ) async throws -> (stream: String, info: MediaInfo) {
        let stream = try await probe.streamHash(of: original)
        let after = try await probe.info(of: new)
        var lost = tags.missing(in: after)
        lost += Set(before.tags.keys).subtracting(after.tags.keys).subtracting(Self.muxerTags).sorted()
        if tags.chapters.isEmpty, before.chapters.count != after.chapters.count { lost.append("chapters") }
        if before.hasCover, !after.hasCover { lost.append("cover") }
        guard lost.isEmpty else {
            throw Failure(
                .temporary, what: "\(original) gets no tags",
                why: "ffmpeg cannot keep \(Message(verbatim: lost.joined(separator: ", "))) in a file of its kind")
        }
        guard try await probe.streamHash(of: new) == stream else {
            throw Failure(
                .temporary, what: "\(original) gets no tags", why: "ffmpeg changes its audio when it copies it")
        }
        return (stream, after)
    }

    /// What programs write of themselves, and of the container.
    private static let muxerTags: Set = [
        "encoder", "major_brand", "minor_version", "compatible_brands", "creation_time", "handler_name", "vendor_id",
        "duration", "encoded_by",
    ]

    /// Gives a new file the owner and the mode of the one in whose place it comes, and its mark. On disk when the call returns.
    /// One that is made of what the user edited is the user's still: it keeps the mark of what was fetched, which does not fit it,
    /// and the recorded time, by which its bytes are kept when the catalog has another version.
    /// - Returns: `file` as it is recorded then.
    private func finished(
        _ path: String, as file: LocalFile, _ original: FileMark.Original?, insteadOf former: LocalFile,
        _ facts: FileAttributes
    ) async throws -> LocalFile {
        let place = absolute(file.path)
        return try await runBlocking {
            var (status, file) = (stat(), file)
            try systemCall("\(place) cannot be looked at") { lstat(place, &status) }
            file.sha256 = try Self.digest(of: path)
            let descriptor = try opened(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
            defer { close(descriptor) }
            // Only root can give files away.
            _ = fchown(descriptor, status.st_uid, status.st_gid)
            try systemCall("\(path) cannot be changed") { fchmod(descriptor, status.st_mode & 0o7777) }
            let mark = try Self.mark(at: place)
            let isEdited = facts.modificationTime != former.modificationTime && mark?.sha256 != former.sha256
            let new = FileMark(
                episode: file.episode, sha256: file.sha256, address: file.fetchedFrom, original: original)
            (isEdited ? mark : new)?.write(to: descriptor)
            try systemCall("\(path) cannot be synced") { fsync(descriptor) }
            file.use(try fileAttributes(of: descriptor, at: path))
            if isEdited { file.modificationTime = former.modificationTime }
            return file
        }
    }

    /// - Parameters:
    ///   - info: what the new file says of itself.
    ///   - facts: what stood in the place of `former` when it was read.
    private func publish(
        _ new: String, as file: LocalFile, _ info: MediaInfo, insteadOf former: LocalFile, _ facts: FileAttributes
    ) async throws {
        try Task.checkCancellation()
        var info = info
        if let known = try await store.media(of: file.episode), known.hasCatalogChapters == true {
            info.takeCatalogs(known.chapters)
        }
        let operation = try await store.begin(publishing: file)
        let move = await Result.of {
            try await runBlocking { [library] in
                let (folder, name) = splitLibraryPath(file.path)
                let directory = try LibraryDirectory(folder, in: library, creating: false)
                try directory.requireUnchanged(name, since: facts)
                try directory.receive(new, as: name, replaces: true)
                try directory.sync()
            }
        }
        if case .failure(let error) = move {
            // However far it came.
            let found = await Result.of {
                try await runBlocking { [library] in
                    try placedFile(at: file.path, withDigest: file.sha256, size: file.size, in: library)
                }
            }
            // What cannot be read is settled by the next run.
            if case .success(let found) = found { try await Self.settle(operation, as: found, store: store) }
            throw error
        }
        try await store.complete([operation])
        try await runBlocking { [library] in Self.forgetOriginal(of: former, in: library) }
        try await store.record(.success(info), of: file)
    }

    private func absolute(_ path: String) -> String { library + "/" + path }

    /// Deletes what is kept of what a file was, where that is deleted too. Blocks on the disk.
    package static func forgetOriginal(of file: LocalFile, in library: String) {
        if let path = originalPath(of: file) { unlink("\(library)/\(path)") }
    }

    /// What is kept of what a file was before it got tags, relative to the library; nil where that is the file itself.
    package static func originalPath(of file: LocalFile) -> String? {
        file.original == nil ? nil : "\(originalsFolder)/\(deltaName(of: file))"
    }

    private static func deltaName(of file: LocalFile) -> String {
        SHA256.hash(data: Array("\(file.episode)\u{0}\(file.sha256)".utf8)).hexadecimal
    }

    private static func digest(of path: String) throws -> String {
        guard case .file(let found)? = FileReader().look(at: path), let sha256 = found.sha256 else {
            throw Failure(.inputOutput, what: "\(path) cannot be read", why: "it is not there, or cannot be opened")
        }
        return sha256
    }

    private static func mark(at path: String) throws -> FileMark? {
        let descriptor = try opened(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        defer { close(descriptor) }
        return FileMark(of: descriptor)
    }

    private static func removeFolder(_ path: String) throws {
        guard fileAttributes(path) != nil else { return }
        do { try FileManager.default.removeItem(atPath: path) } catch {
            throw Failure(.inputOutput, what: "\(path) cannot be deleted", why: Message(cause: error))
        }
    }
}

extension Failure {
    fileprivate static func left(_ file: LocalFile, why: Message, remedy: Message) -> Failure {
        Failure(.temporary, what: "\(file.path) is left as it is", why: why, remedy: remedy)
    }
}
