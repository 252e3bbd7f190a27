import BookModel
import Crypto
import Foundation
import LibraryFiles

/// The files of a large transfer's pieces, beside its partial file.
///
/// `NAME.part.VERSION.16777216` grows at its end like the partial file; once whole it is synced and becomes
/// `NAME.part.VERSION.16777216.whole`, which can be trusted after a power cut too. VERSION stands for the validator and
/// the length of the file that it is a piece of, so that pieces of two versions never meet.
struct PieceFiles: Sendable {
    private static let wholeSuffix = ".whole"

    /// Of the transfer's partial file.
    private let partialPath: String
    private let version: String

    /// - Parameters:
    ///   - validator: of the representation.
    ///   - total: its length.
    init(partialPath: String, validator: ContentValidator, total: Int64) {
        self.partialPath = partialPath
        let name = "\(validator.ifRange ?? "")\u{0}\(total)"
        version = SHA256.hash(data: Array(name.utf8)).prefix(8).hexadecimal
    }

    func path(ofPieceAt start: Int64) -> String { "\(partialPath).\(version).\(start)" }

    private func pathOfWholePiece(at start: Int64) -> String { path(ofPieceAt: start) + Self.wholeSuffix }

    /// What earlier runs left: piece → its bytes. What is of another version, begins at no piece's offset, or cannot be
    /// trusted, is deleted.
    ///
    /// - Parameters:
    ///   - table: says where pieces begin and how long they are.
    ///   - trustsUnsynced: whether the machine was not booted since.
    ///   - front: bytes of the partial file; pieces behind it are of no use any more.
    func leftovers(in table: SegmentTable, trustsUnsynced: Bool, front: Int64) throws -> [Int: Int64] {
        var found: [Int: Int64] = [:]
        let (folder, baseName) = splitLibraryPath(partialPath)
        for name in try Self.names(beside: partialPath) {
            let isWhole = name.hasSuffix(Self.wholeSuffix)
            let words = name.dropLast(isWhole ? Self.wholeSuffix.count : 0).dropFirst(baseName.count + 1)
                .split(separator: ".", omittingEmptySubsequences: false)
            if words.count == 2, words[0] == version, let start = Int64(words[1]), start >= 0, start < table.total,
                start % table.length == 0,
                isWhole || trustsUnsynced, let size = try Self.size(of: folder + "/" + name)
            {
                let piece = Int(start / table.length)
                let range = table.range(of: piece)
                let fits = isWhole ? size == Int64(range.count) : size > 0 && size <= Int64(range.count)
                if fits, range.upperBound > front, found[piece] == nil {
                    found[piece] = size
                    continue
                }
            }
            try deleteFile(folder + "/" + name)
        }
        return found
    }

    /// Deletes those of all versions; that there are none is no error.
    static func removeAll(beside partialPath: String) throws {
        let folder = splitLibraryPath(partialPath).folder
        for name in try names(beside: partialPath) { try deleteFile(folder + "/" + name) }
    }

    /// Bytes that those of all versions take on the disk.
    static func allocatedBytes(beside partialPath: String) throws -> Int64 {
        let folder = splitLibraryPath(partialPath).folder
        return try names(beside: partialPath).reduce(0) { sum, name in
            var status = stat()
            guard lstat("\(folder)/\(name)", &status) == 0 else { return sum }
            return sum + Int64(status.st_blocks) * 512
        }
    }

    /// Gives a piece that is whole and synced the name that says so.
    func markWhole(pieceAt start: Int64) throws {
        try systemCall("the partial file \(path(ofPieceAt: start)) cannot be renamed") {
            rename(path(ofPieceAt: start), pathOfWholePiece(at: start))
        }
    }

    /// Deletes those of one piece.
    func remove(pieceAt start: Int64) throws {
        try deleteFile(path(ofPieceAt: start))
        try deleteFile(pathOfWholePiece(at: start))
    }

    /// The one of a piece's two files that is there; nil when neither is.
    func existingPath(ofPieceAt start: Int64) throws -> String? {
        for path in [pathOfWholePiece(at: start), path(ofPieceAt: start)] where try Self.size(of: path) != nil {
            return path
        }
        return nil
    }

    private static func names(beside partialPath: String) throws -> [String] {
        let (folder, baseName) = splitLibraryPath(partialPath)
        do {
            // The whole ones first, should a crash have left both.
            return try OpenedFolder(String(folder)).names().filter { $0.hasPrefix(baseName + ".") }.sorted(by: >)
        } catch {
            throw Failure.file("the folder of the partial files cannot be listed", errno: error.code)
        }
    }

    /// nil when it is missing, or no plain file.
    private static func size(of path: String) throws -> Int64? {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw Failure.file("\(path) cannot be looked at", errno: errno) }
            return nil
        }
        return status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : nil
    }
}
