import AudioFiles
import BookModel
import CatalogStore
import DownloadEngine
import Foundation
import LibraryFiles

// A verification holds the files of the library against what was recorded when they were fetched. It takes no lock: a run
// may be under way, and what it replaces or renames meanwhile is looked at once more before it is called bad.
//
// It goes in rounds. What was found right is noted as it goes, so that a verification that was cut off, however that
// happened, goes on with the rest when it is asked for again; what was found bad is read again then, so that the last word
// names all of it. A round that came to its end is over, and the next one reads everything.

/// Holds files against their records.
package struct LibraryVerification: Sendable {
    private let library: String
    private let media: MediaProbe?
    private let emit: @Sendable (SyncEvent) -> Void

    /// - Parameters:
    ///   - library: absolute.
    ///   - media: what looks into the audio files; nil where nothing does.
    package init(library: String, media: MediaProbe? = nil, emit: @escaping @Sendable (SyncEvent) -> Void) {
        self.library = library
        self.media = media
        self.emit = emit
    }

    /// Looks at everything that the request names. Cancelled, it returns what it came to.
    /// - Throws: ``Failure`` of kind `unknownBook` when there is no library, or no such book or section in it.
    package func check(_ request: VerificationRequest) async throws -> VerificationReport {
        let (store, isWritable) = try await openStore()
        return try await store.closing {
            try await check(request, store: store, records: isWritable && !request.isQuick)
        }
    }

    private func openStore() async throws -> (store: CatalogStore, isWritable: Bool) {
        let path = try await LibraryFolder.requireStore(in: library)
        do {
            // Of what another machine goes on from nothing is recorded here.
            guard path == LibraryFolder.existing(at: library).storePath else {
                return (try await CatalogStore(path: path, access: .readOnly), false)
            }
            return (try await LibraryFolder.openStore(at: path), true)
        } catch let failure as Failure where failure.kind == .libraryUnwritable {
            let store = try await CatalogStore(path: path, access: .readOnly)
            emit(.notice("the library cannot be written: a verification that is interrupted begins anew"))
            return (store, false)
        }
    }

    /// - Parameter records: whether the store records what is found right.
    private func check(
        _ request: VerificationRequest, store: CatalogStore, records: Bool
    ) async throws -> VerificationReport {
        let begin = ContinuousClock.now
        let recorded = try await recordedFiles(in: request.scope, store: store)
        var round: VerificationRound?
        var report = VerificationReport(isQuick: request.isQuick)
        var files = recorded
        if records {
            let begun = try await store.beginVerification(
                of: request.scope.text, anew: request.startsAnew, at: Date())
            let verified = try await store.verifiedFiles(since: begun)
            files = recorded.filter { !verified.contains($0.file.episode) }
            report.verifiedBefore = recorded.count - files.count
            round = begun
            if report.verifiedBefore > 0 {
                report.continuesRoundOf = begun.startedAt
                emit(
                    .notice(
                        "going on with the verification of \(begun.startedAt): "
                            + "\(report.verifiedBefore) of \(recorded.count) files were found right already "
                            + "(--anew reads them again)"))
            }
        }
        let looking = VerificationPass(
            files, library: library, depth: request.isQuick ? .beginning : .whole, store: store, round: round,
            operations: try await store.operationsUnderWay(), report: report, emit: emit)
        report = try await looking.run()
        if let round, report.isComplete {
            try await store.endVerification(round, at: Date())
            let bad = Set(report.bad.map(\.file.episode))
            let sound = recorded.filter { !bad.contains($0.file.episode) }
            if !report.retagged.isEmpty {
                emit(
                    .notice(
                        "the records of \(Message(report.retagged.count, "file")) are updated: booksync wrote the tags after "
                            + "the copy of the store that is used"))
            }
            let files = sound.map { report.retagged[$0.file.episode] ?? $0.file }
            try await readMedia(of: files, store: store)
            if request.decodes { try await decode(sound, of: recorded, &report) }
        }
        report.seconds = (ContinuousClock.now - begin) / .seconds(1)
        return report
    }

    /// Reads what the files say of themselves of which that is not known.
    private func readMedia(of files: [LocalFile], store: CatalogStore) async throws {
        guard let media else { return }
        let unread = try await store.filesWithoutMedia(files)
        guard !unread.isEmpty else { return }
        emit(.notice("reading durations, chapters and tags of \(Message(unread.count, "file"))"))
        let reader = MediaReader(media, library: library, store: store)
        reader.add(unread)
        reader.finish()
        if let notice = await reader.run() { emit(.notice(notice)) }
    }

    /// Decodes files, and reports those that are broken. Cancelled, it leaves the others.
    private func decode(
        _ files: [VerifiedFile], of recorded: [VerifiedFile], _ report: inout VerificationReport
    ) async throws {
        guard let check = media.map(AudioCheck.init), !files.isEmpty else { return }
        emit(.notice("decoding \(Message(files.count, "file"))"))
        // No more than are decoded at a time, and some that wait.
        let decoded = try await files.concurrentMap(atOnce: 4) { [library, emit] file -> VerifiedFile? in
            guard !Task.isCancelled else { return nil }
            var file = file
            if let why = await check.objection(to: library + "/" + file.file.path, declared: nil) {
                file.verdict = .brokenAudio(why)
                emit(.bad(file))
            }
            return file
        }.compactMap(\.self)
        let broken = decoded.filter { $0.verdict != .intact }
        report.left += files.count - decoded.count
        // What an earlier call found right was not counted by this one.
        report.intact = max(0, report.intact - broken.count)
        let bad = Dictionary((report.bad + broken).map { ($0.file.episode, $0) }) { first, _ in first }
        report.bad = recorded.compactMap { bad[$0.file.episode] }
    }

    /// One book after the other: a file takes little room, and all that is known of its episode takes much.
    private func recordedFiles(in scope: TransferControl.Scope, store: CatalogStore) async throws -> [VerifiedFile] {
        var named: Set<EpisodeIdentity> = []
        var files: [VerifiedFile] = []
        func take(_ episodes: [EpisodeRecord]) {
            for shelved in episodes {
                guard let file = shelved.file, named.insert(file.episode).inserted else { continue }
                files.append(
                    VerifiedFile(
                        section: shelved.episode.section, name: shelved.episode.name, file: file, verdict: .intact))
            }
        }
        if case .everything = scope {
            for book in try await store.books() { take(try await store.episodes(of: book.book.identity)) }
        } else {
            take(try await store.episodes(in: scope))
        }
        return files
    }
}

extension SyncEvent {
    static func bad(_ file: VerifiedFile) -> SyncEvent { .alert("bad: \(file.file.path): \(file.sentence)") }
}

extension TransferControl.Scope {
    /// The same text for the same scope, however it is named.
    var text: String {
        switch self {
        case .everything, .queue: ""
        case .books(let books):
            books.map { book, filter in
                let only = filter.only.map { "/\($0)" } ?? ""
                let latest = filter.latest.map { "/latest:\($0)" } ?? ""
                return "\(book)\(only)\(latest)"
            }.sorted().joined(separator: " ")
        case .episodes(let episodes): episodes.map(\.description).sorted().joined(separator: " ")
        }
    }
}
