import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles

/// Whether the library, its disk and its store are as a run needs them. What is written to find that out is gone again when
/// it is found out.
struct LibraryDiagnosis: Sendable {
    let path: String
    /// Bytes that the configuration wants to stay free.
    let minFreeSpace: Int64
    let knownLibraries: KnownLibraries?

    private var folder: LibraryFolder { .existing(at: path) }

    func findings() async throws -> [Finding] {
        let state = try await runBlocking { try LibraryState(path) }
        let library = try await Finding.of("library") { try await libraryFinding(state) }
        guard state == .begun || state == .empty, library.status != .problem else {
            // What lies elsewhere, or is on no disk, says nothing of the library.
            return state == .missing && library.status != .problem ? [library, try await space(state)] : [library]
        }
        let isRunUnderWay = try await LibraryLock.isHeld(in: path)
        var findings = [library, try await locking(), try await lock(isRunUnderWay)]
        if state == .begun { findings += [try await renaming(), try await disk()] }
        findings.append(try await store())
        findings.append(try await leftovers(state, isRunUnderWay: isRunUnderWay))
        if let trash = try await trash() { findings.append(trash) }
        findings.append(try await space(state))
        return findings
    }

    // MARK: The trash

    /// - Returns: nil where it is empty, or the store cannot be read, which another check tells.
    private func trash() async throws -> Finding? {
        let files = (try? await LibraryFolder.reading(path) { try await $0.trashedFiles() }) ?? []
        guard !files.isEmpty else { return nil }
        let bytes = describeBytes(files.saturatedSum(of: \.file.size))
        return .ok("trash", "\(Message(files.count, "file")) (\(bytes)), the first to go when the disk is full")
    }

    // MARK: The folder

    private func libraryFinding(_ state: LibraryState) async throws -> Finding {
        try await knownLibraries?.requireMounted(path, mayLackRecords: false)
        switch state {
        case .noFolder:
            throw LibraryFolder.unwritable(
                path, why: "it is not a folder", remedy: "name a folder with --library, or move it away")
        case .unreachable(let why):
            throw LibraryFolder.unwritable(path, why: why)
        case .missing:
            try await runBlocking { try LibraryFolder.requireParent(of: path) }
            return .warning("library", "\(path) is not there yet", remedy: "the first run makes it")
        case .empty, .begun:
            try await runBlocking {
                try folder.requireOwnFiles()
                try folder.tryWritingUnseen()
            }
            return .ok(
                "library",
                state == .begun ? "\(path) is writable" : "\(path) is writable; no run has put anything there yet")
        }
    }

    // MARK: The lock

    private func locking() async throws -> Finding {
        return try await Finding.of("locking") {
            try await runBlocking { try LibraryLock.requireLocking(in: folder) }
            let mount = try await runBlocking { MountedFilesystem(of: folder.path) }
            if let mount, mount.locksOnThisMachineOnly {
                return .warning(
                    "locking", "the library is on \(mount.kind), mounted so that locks hold on this machine only",
                    remedy: "let no other machine run booksync on it, or mount it without nolock and local_lock")
            }
            return .ok("locking", "the filesystem keeps locks" + (mount.map { " (\($0.kind))" } ?? ""))
        }
    }

    private func lock(_ isHeld: Bool) async throws -> Finding {
        let (owner, isShared) = try await runBlocking {
            (LockOwner(of: folder), MountedFilesystem.isShared(folder.path))
        }
        guard isHeld else {
            // The kernel's lock may not reach that machine.
            if let owner, isShared {
                return .ok("lock", "held by another machine, or by a run that was killed: \(owner.sentence)")
            }
            return .ok(
                "lock",
                owner.map { "free; the last run was killed (\($0.sentence)), and the next one settles what it left" }
                    ?? "free: no run is under way")
        }
        guard let owner else {
            return .ok("lock", "held by a process that did not write its name into \(folder.lockFile)")
        }
        if let age = owner.age(at: .now), age > 24 * 3600 {
            return .warning(
                "lock", "held for \(Int(age / 3600)) hours: \(owner.sentence)",
                remedy: "see with booksync queue whether it still gets on; mirror --time-limit ends runs by themselves")
        }
        return .ok("lock", "held: \(owner.sentence)")
    }

    private func renaming() async throws -> Finding {
        return try await Finding.of("renaming") {
            try await runBlocking { try DiskTraits(of: folder).renamesExclusively }
                ? .ok("renaming", "files are put in place without ever overwriting one")
                : .warning(
                    "renaming", "the filesystem knows no rename that never overwrites: booksync looks, then renames",
                    remedy: "put nothing into the library's folders while a run is under way")
        }
    }

    private func disk() async throws -> Finding {
        return try await Finding.of("disk") {
            let traits = try await runBlocking { try DiskTraits(of: folder) }
            let kind = traits.kind ?? "?"
            if !traits.syncsFolders {
                return .warning(
                    "disk", "\(kind): folders cannot be synced",
                    remedy: "a power cut may take the last names back: the next run finds that out")
            }
            if traits.longestName < 255 {
                return .warning(
                    "disk", "\(kind): names have at most \(traits.longestName) bytes",
                    remedy: "choose a short naming; an episode whose name is too long fails")
            }
            if !traits.keepsAttributes {
                return .warning(
                    "disk", "\(kind): it keeps no extended attributes",
                    remedy: "files that you move are recognised by their sizes and content alone")
            }
            guard traits.isShared else {
                return .ok("disk", "\(kind): it keeps long names and attributes, and syncs folders")
            }
            return .ok(
                "disk",
                "\(kind), which other machines may have, too: a run has the store alone, and others read its last copy")
        }
    }

    // MARK: The store

    private func store() async throws -> Finding {
        return try await Finding.of("store") {
            try await folder.refuseLostStore()
            let (path, size) = try await folder.readableFile()
            guard let size, size > 0 else { return .ok("store", "there is none yet") }
            if let why = try await StoreHeader(of: path).fault { throw Failure.damagedStore(at: path, why: why) }
            let found: StoreExamination
            do {
                found = try await StoreExamination(path: path)
            } catch let failure as Failure where failure.reason == .storeUnmade {
                return .ok("store", "there is none yet")
            }
            if !found.faults.isEmpty {
                throw Failure.damagedStore(at: path, why: "its pages or its indexes contradict each other")
            }
            if found.strayRows > 0 {
                throw Failure.damagedStore(
                    at: path,
                    why: found.strayRows == 1
                        ? "1 row refers to a missing one" : "\(found.strayRows) rows refer to missing ones")
            }
            return .ok("store", "sound, \(describeBytes(size))")
        }
    }

    // MARK: What was left behind

    private func leftovers(_ state: LibraryState, isRunUnderWay: Bool) async throws -> Finding {
        guard state == .begun else { return .ok("leftovers", "none") }
        if isRunUnderWay { return .ok("leftovers", "not looked for: a run is under way") }
        return try await Finding.of("leftovers") {
            let leftovers = try await Leftovers(in: folder)
            guard let message = leftovers.sentence else {
                return .ok("leftovers", leftovers.harmlessSentence ?? "none")
            }
            return .warning("leftovers", message, remedy: leftovers.remedy)
        }
    }

    // MARK: Room

    private func space(_ state: LibraryState) async throws -> Finding {
        return try await Finding.of("space") {
            let space = try await runBlocking { () -> DiskSpace in
                guard state == .missing else { return try DiskSpace(of: path) }
                return try DiskSpace(of: URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false))
            }
            let reserve = describeBytes(space.reserve(of: minFreeSpace))
            // The store needs room as well, if only a little.
            if let missing = space.missing(for: 1 << 20, leaving: minFreeSpace), missing > 0 {
                throw Failure(
                    .inputOutput, what: "the disk of the library is full",
                    why: "\(describeBytes(space.free)) are free, and \(reserve) are to stay free",
                    remedy: Failure.roomRemedy(leaving: minFreeSpace))
            }
            let toCome = await bytesToCome()
            if let missing = space.missing(for: toCome, leaving: minFreeSpace) {
                return .warning(
                    "space",
                    "\(describeBytes(space.free)) free, \(reserve) reserved, \(describeBytes(toCome)) to come for what has begun",
                    remedy: "make room for \(describeBytes(missing)), or cancel some of it: that drops partial files")
            }
            return .ok("space", "\(describeBytes(space.free)) free, \(reserve) reserved")
        }
    }

    /// Bytes that the transfers with partial files are still to bring, as far as their lengths are known; 0 where the store
    /// cannot be read, which another check tells.
    private func bytesToCome() async -> Int64 {
        let found = try? await LibraryFolder.reading(path) {
            (try await $0.unfinishedTransfers(), try await PartialSizes(library: path))
        }
        guard let (begun, partials) = found else { return 0 }
        return begun.reduce(0) { sum, shelved in
            guard let bytes = partials.bytes(of: shelved.episode.identity),
                let total = shelved.transfer?.total ?? shelved.episode.size
            else { return sum }
            return sum.addingSaturated(max(0, total.subtractingSaturated(bytes)))
        }
    }
}

/// What stands where the library is to be.
private enum LibraryState: Sendable, Hashable {
    case missing
    case noFolder
    case unreachable(why: Message)
    /// A folder that no run has been in.
    case empty
    case begun

    init(_ path: String) throws {
        var status = stat()
        guard stat(path, &status) == 0 else {
            let code = errno
            self = code == ENOENT ? .missing : .unreachable(why: Message(errno: code))
            return
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            self = .noFolder
            return
        }
        self = lstat(path + "/.booksync", &status) == 0 ? .begun : .empty
    }
}
