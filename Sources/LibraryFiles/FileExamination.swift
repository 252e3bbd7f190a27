import BookModel
import Foundation

/// Looks into files to find out whose they are.
package enum FileExamination {
    /// Examines files, as many at once as there are cores. What cannot be read, or changes while it is read, has no
    /// answer.
    /// - Parameters:
    ///   - questions: path → how far to read.
    ///   - folder: absolute; what the paths are relative to.
    package static func examine(
        _ questions: [String: ProbeDepth], in folder: String
    ) async throws -> [String: ExaminedFile] {
        let atOnce = max(2, ProcessInfo.processInfo.activeProcessorCount)
        let sorted = questions.sorted { $0.key < $1.key }
        let answers = try await sorted.concurrentMap(atOnce: atOnce) { path, depth in
            try Task.checkCancellation()
            return (path, await examined(folder + "/" + path, depth))
        }
        // One that was being read has no answer then.
        try Task.checkCancellation()
        return Dictionary(uniqueKeysWithValues: answers).compactMapValues(\.self)
    }

    private static func examined(_ path: String, _ depth: ProbeDepth) async -> ExaminedFile? {
        // An unreadable file of the user's is no reason to end a run; it is just not recognised.
        let found = try? await runBlocking { try FileReader().read(path, depth, readsMark: true) }
        guard case .file(let file)? = found, file.isUnchanged else { return nil }
        return file
    }

    /// How many first bytes tell what a file is.
    static let headLength = AudioSignature.wanted

    /// - Parameter head: the first ``headLength`` bytes, fewer only where the file has no more.
    static func beginning(_ head: [UInt8]) -> ExaminedFile.Beginning {
        if AudioSignature.isKnownAudio(head) { return .audio }
        // Room that a downloader reserved and never filled.
        if head.allSatisfy({ $0 == 0 }) { return .foreign("nothing but zeros") }
        return AudioSignature.foreignContent(in: head).map { .foreign($0) } ?? .unknown
    }
}
