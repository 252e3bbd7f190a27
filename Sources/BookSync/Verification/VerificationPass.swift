import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles

/// One pass over files: looks into them, thinks twice about what seems bad, notes what is right, and tells.
actor VerificationPass {
    private let files: [VerifiedFile]
    private let library: String
    private let depth: FileReader.Depth
    private let store: CatalogStore
    /// What is found right is noted in it; nil notes nothing.
    private let round: VerificationRound?
    /// Where files may be that a run was about to rename.
    private let otherPaths: [EpisodeIdentity: [String]]
    private let emit: @Sendable (SyncEvent) -> Void
    private var report: VerificationReport
    private var board: FileBoard
    /// With the indices of the files.
    private var bad: [(fileIndex: Int, file: VerifiedFile)] = []
    private var seen = 0
    private var keepsInodes = true

    init(
        _ files: [VerifiedFile], library: String, depth: FileReader.Depth, store: CatalogStore,
        round: VerificationRound?, operations: [FileOperation], report: VerificationReport,
        emit: @escaping @Sendable (SyncEvent) -> Void
    ) {
        self.files = files
        self.library = library
        self.depth = depth
        self.store = store
        self.round = round
        self.otherPaths = Dictionary(
            operations.filter { $0.kind == .rename }.map {
                ($0.episode, [$0.target, RenameSteps.aside($0.episode, from: $0.source)])
            }
        ) { first, _ in first }
        self.report = report
        self.emit = emit
        self.board = FileBoard(files.map(\.file))
    }

    /// - Returns: what it came to, also when it was cancelled.
    func run() async throws -> VerificationReport {
        let questions = files.map { (path: library + "/" + $0.file.path, size: $0.file.size) }
        keepsInodes = try await inodesAreKept()
        do {
            try await ParallelFileReader.look(into: questions, depth: depth) { try await self.deal(with: $0) }
        } catch is CancellationError {
            report.left = files.count - seen
        }
        report.bad = bad.sorted { $0.fileIndex < $1.fileIndex }.map(\.file)
        return report
    }

    /// True if most files have the recorded inodes. On a disk that was copied, and on FAT, FUSE and SMB, they have
    /// others.
    private func inodesAreKept() async throws -> Bool {
        let (files, library) = (files.prefix(Self.maxSample), library)
        return try await runBlocking {
            let known = files.compactMap { file in
                fileAttributes(library + "/" + file.file.path).map { $0.inode == file.file.inode }
            }
            return known.count { $0 } * 2 >= known.count
        }
    }

    private static let maxSample = 1000

    private func deal(with part: ParallelFileReader.Part) async throws {
        var intact: [VerifiedFile] = []
        var worse: [VerifiedFile] = []
        for (fileIndex, look) in part.answers {
            seen += 1
            guard let file = try await judged(files[fileIndex], look) else { continue }
            board.finish([file.file], areGood: file.verdict == .intact)
            report.bytes.addSaturated(file.file.size)
            if file.verdict == .intact {
                intact.append(file)
            } else {
                bad.append((fileIndex, file))
                worse.append(file)
            }
        }
        report.intact += intact.count
        // Noted before it is told.
        if let round { try await store.recordVerified(intact.map(\.file), in: round, at: Date()) }
        for file in intact { emit(.detail("intact: \(file.file.path)")) }
        for file in worse { emit(.bad(file)) }
        let reading = part.reading.map { fileIndex, bytes in
            let bytes = ByteProgress(bytesDone: bytes, total: files[fileIndex].file.size)
            return ProgressState.Transfer(name: files[fileIndex].name, bytes: bytes)
        }
        emit(.measured(board.state(running: reading, at: .now)))
    }

    /// - Returns: nil when the file is no longer the library's.
    private func judged(_ file: VerifiedFile, _ look: FileCheck) async throws -> VerifiedFile? {
        let file = judged(file, by: look)
        return file.verdict == .intact ? file : try await judgedAgain(file, look)
    }

    private func judged(_ file: VerifiedFile, by look: FileCheck) -> VerifiedFile {
        var file = file
        file.verdict = FileVerdict(of: look, recorded: file.file, keepsInodes: keepsInodes)
        if case .file(let found) = look {
            file.wasTouched = found.wasTouched(since: file.file, keepsInodes: keepsInodes)
        }
        return file
    }

    /// What a run did, or was about to do, while the file was looked at.
    private func judgedAgain(_ file: VerifiedFile, _ look: FileCheck) async throws -> VerifiedFile? {
        var file = file
        guard let recorded = try await store.episode(file.file.episode)?.file else { return nil }
        // What somebody who was cut off may have put in its place without recording it: a new version, or one with tags.
        let announced = try await store.operationsUnderWay(of: recorded.episode).first { $0.kind == .publish }
        if let digest = announced?.file.sha256, try await hasDigest(digest, recorded, as: look) {
            file.verdict = .intact
            return file
        }
        var paths = otherPaths[recorded.episode] ?? []
        if recorded != file.file || file.verdict == .changing { paths.insert(recorded.path, at: 0) }
        file.file = recorded
        for path in paths {
            guard let look = try await self.look(recorded, at: path, depth: depth) else { return file }
            let again = judged(file, by: look)
            // A path that it may have is not where it must be.
            guard again.verdict == .intact || path == recorded.path else { continue }
            file = again
            if file.verdict == .intact { break }
        }
        return file.verdict == .intact ? file : try await retagged(file)
    }

    /// The file, right by a record that is brought up to date, where only its tags are newer than the store.
    private func retagged(_ file: VerifiedFile) async throws -> VerifiedFile {
        let recorded = file.file
        guard let record = try await RetaggedFiles.records(of: [recorded], in: library)[recorded.episode] else {
            return file
        }
        var file = file
        file.file = record
        file.verdict = .intact
        if round != nil, try await store.replaceRecord(of: recorded, with: record) {
            report.retagged[record.episode] = record
        }
        return file
    }

    private func hasDigest(_ sha256: String, _ recorded: LocalFile, as look: FileCheck) async throws -> Bool {
        guard case .file(let found) = look else { return false }
        var announced = recorded
        announced.size = found.facts.size
        guard case .file(let read)? = try await self.look(announced, at: recorded.path, depth: .whole) else {
            return false
        }
        return read.sha256 == sha256
    }

    private func look(_ file: LocalFile, at path: String, depth: FileReader.Depth) async throws -> FileCheck? {
        let path = library + "/" + path
        return try await runBlocking { FileReader().look(at: path, size: file.size, depth: depth) }
    }
}
