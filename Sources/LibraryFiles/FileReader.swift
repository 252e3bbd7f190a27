import BookModel
import Foundation

/// Looks into one file after the other, with one buffer for all of them. Every call blocks on the disk: it belongs on a
/// thread of its own.
package struct FileReader: ~Copyable {
    /// How far to read.
    package enum Depth: Sendable {
        /// To the end, for the digest.
        case whole
        /// The size and the beginning; to the end only where the beginning is not known audio, which encoders' padding is
        /// not either.
        case beginning
    }

    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)

    package init() {}

    deinit { buffer.deallocate() }

    /// - Parameters:
    ///   - path: absolute. A symbolic link at its end is not followed.
    ///   - size: bytes that the file must have, where that is known; one of another size is not read.
    ///   - onRead: is told the bytes of each read, and says whether to go on.
    /// - Returns: nil when it was not to go on.
    package func look(
        at path: String, size: Int64? = nil, depth: Depth = .whole, onRead: (Int) -> Bool = { _ in true }
    ) -> FileCheck? {
        do {
            if depth == .beginning, case .file(let found)? = try read(path, .beginning, size: size),
                found.beginning == .audio
            {
                return .file(found)
            }
            return try read(path, .whole([]), size: size, onRead: onRead)
        } catch {
            switch error.code {
            case ENOENT, ENOTDIR: return .nothing
            case ELOOP: return .other(.symbolicLink)
            default: return .unreadable(error)
            }
        }
    }

    /// - Parameters:
    ///   - size: as for ``look(at:size:depth:onRead:)``.
    ///   - readsMark: whether to read what the file says of itself.
    /// - Returns: nil when it was not to go on.
    func read(
        _ path: String, _ depth: ProbeDepth, size: Int64? = nil, readsMark: Bool = false,
        onRead: (Int) -> Bool = { _ in true }
    ) throws(SystemError) -> FileCheck? {
        let descriptor = try systemCall { open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
        defer { close(descriptor) }
        let (facts, changeTime) = try Self.status(of: descriptor)
        guard facts.kind == .file else { return .other(facts.kind) }
        var found = ExaminedFile(facts: facts, beginning: .unknown, changeTime: changeTime)
        guard size == nil || facts.size == size else { return .file(found) }
        let count = try systemCall { pread(descriptor, buffer.baseAddress, FileExamination.headLength, 0) }
        found.beginning = FileExamination.beginning(Array(buffer[..<count]))
        if readsMark { found.mark = FileMark(of: descriptor) }
        guard case .whole(let algorithms) = depth else { return .file(found) }
        #if os(Linux)
            // An advice; a filesystem that does not take it reads as it always does.
            _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
        #endif
        var digests = Digests(algorithms.union([.sha256]))
        while true {
            let count = try systemCall { Foundation.read(descriptor, buffer.baseAddress, buffer.count) }
            if count == 0 { break }
            digests.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            guard onRead(count) else { return nil }
        }
        found.digests = digests.values
        found.isUnchanged = try Self.status(of: descriptor).facts == facts
        return .file(found)
    }

    private static func status(of descriptor: Int32) throws(SystemError) -> (facts: FileAttributes, changeTime: Int64) {
        var status = stat()
        try systemCall { fstat(descriptor, &status) }
        #if canImport(Darwin)
            let time = status.st_ctimespec
        #else
            let time = status.st_ctim
        #endif
        return (FileAttributes(status), time.nanoseconds)
    }
}

/// The file at a path where a run that was killed had announced one, if it is that: its name is on disk then, which a power cut would
/// take back else. Blocks on the disk.
/// - Parameters:
///   - path: relative to the library.
///   - sha256: of the announced file, which has so many bytes: one of another size is not read.
/// - Throws: `SystemError` when what stands there cannot be read; ``Failure`` when its folder cannot be synced.
package func placedFile(
    at path: String, withDigest sha256: String, size: Int64, in library: String
) throws -> ExaminedFile? {
    let absolute = library + "/" + path
    switch FileReader().look(at: absolute, size: size) {
    case .file(let found) where found.sha256 == sha256:
        try LibraryDirectory(splitLibraryPath(path).folder, in: library, creating: false).sync()
        return found
    case .unreadable(let error): throw error
    case .file, .nothing, .other, nil: return nil
    }
}
