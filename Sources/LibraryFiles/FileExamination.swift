import BookModel
import Crypto
import Foundation
import SyncPlanner

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
        var answers: [String: ExaminedFile] = [:]
        var rest = questions.sorted { $0.key < $1.key }[...]
        await withTaskGroup(of: (String, ExaminedFile?).self) { group in
            func addNext() {
                guard let (path, examination) = rest.popFirst(), !Task.isCancelled else { return }
                group.addTask { (path, await examined(folder + "/" + path, examination)) }
            }
            for _ in 0..<max(2, ProcessInfo.processInfo.activeProcessorCount) { addNext() }
            while let (path, answer) = await group.next() {
                answers[path] = answer
                addNext()
            }
        }
        try Task.checkCancellation()
        return answers
    }

    private static func examined(_ path: String, _ examination: ProbeDepth) async -> ExaminedFile? {
        do {
            return try await runBlocking { try examine(path, examination) }
        } catch {
            // An unreadable file of the user's is no reason to end a run; it is just not recognised.
            return nil
        }
    }

    private static func examine(_ path: String, _ examination: ProbeDepth) throws -> ExaminedFile? {
        let descriptor = try systemCall { open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
        defer { close(descriptor) }
        let facts = try facts(of: descriptor)
        guard facts.kind == .file else { return nil }
        var head = [UInt8](repeating: 0, count: AudioSignature.wanted)
        let count = try systemCall { pread(descriptor, &head, head.count, 0) }
        var file = ExaminedFile(
            facts: facts, beginning: beginning(Array(head.prefix(count))), mark: FileMark(of: descriptor))
        guard case .whole(let algorithms) = examination else { return file }
        file.digests = try digests(of: descriptor, algorithms)
        let now = try Self.facts(of: descriptor)
        guard now == facts else { return nil }
        return file
    }

    private static func facts(of descriptor: Int32) throws -> FileAttributes {
        var status = stat()
        try systemCall { fstat(descriptor, &status) }
        return FileAttributes(status)
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

    private static func digests(
        of descriptor: Int32, _ algorithms: Set<ContentDigest.Algorithm>
    ) throws -> [ContentDigest.Algorithm: String] {
        var sha256 = SHA256()
        var sha1 = algorithms.contains(.sha1) ? Insecure.SHA1() : nil
        var md5 = algorithms.contains(.md5) ? Insecure.MD5() : nil
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { chunk.deallocate() }
        while true {
            let count = try systemCall { read(descriptor, chunk.baseAddress, chunk.count) }
            if count == 0 { break }
            let part = UnsafeRawBufferPointer(rebasing: chunk[..<count])
            sha256.update(bufferPointer: part)
            sha1?.update(bufferPointer: part)
            md5?.update(bufferPointer: part)
        }
        var digests: [ContentDigest.Algorithm: String] = [.sha256: sha256.finalize().hexadecimal]
        digests[.sha1] = sha1?.finalize().hexadecimal
        digests[.md5] = md5?.finalize().hexadecimal
        return digests
    }
}
