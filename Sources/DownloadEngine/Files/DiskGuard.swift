import BookModel
import Foundation
import LibraryFiles
import Synchronization

/// Looks at the library's disk while a run goes on: that it is still the one that the run began on, that no other run took it over,
/// and that it has room for what is to come.
///
/// Every look may block on the disk: it is taken on a thread of the engine's own.
final class DiskGuard: Sendable {
    /// A transfer that brings, or is about to bring, bytes to the disk.
    struct Load: Sendable {
        /// Of its partial file.
        let name: String
        /// Length of the whole, as far as it is known.
        let total: Int64?
    }

    private let library: String
    private let partialFolder: String
    private let minFreeSpace: Int64
    /// Bytes that the store's journal takes before it is written back.
    private static let storeGrowth: Int64 = 4 << 20
    private let began = Mutex<FolderID?>(nil)
    private let requireHeld: @Sendable () throws -> Void

    /// - Parameters:
    ///   - library: absolute path.
    ///   - partialFolder: absolute path.
    ///   - minFreeSpace: bytes to leave free; see ``DiskSpace``. Where that is 0, the store has room to grow.
    ///   - requireHeld: throws when another run has the library now.
    init(
        library: String, partialFolder: String, minFreeSpace: Int64,
        requireHeld: @escaping @Sendable () throws -> Void = {}
    ) {
        self.requireHeld = requireHeld
        self.library = library
        self.partialFolder = partialFolder
        self.minFreeSpace = minFreeSpace > 0 ? minFreeSpace : Self.storeGrowth
    }

    /// Which folder the partial files lie in, whatever its path.
    private struct FolderID: Equatable {
        let device: dev_t
        let inode: ino_t
    }

    /// - Throws: ``Failure`` that ends the run, when the folder of the partial files is another than at the first look, or another
    ///   run took the library over.
    func requireSameDisk() throws {
        var status = stat()
        guard lstat(partialFolder, &status) == 0 else {
            throw vanished(why: Message(errno: errno))
        }
        let current = FolderID(device: status.st_dev, inode: status.st_ino)
        let isTheSame = began.withLock { began in
            began = began ?? current
            return began == current
        }
        guard isTheSame else { throw vanished(why: "another folder stands at its path") }
        try requireHeld()
    }

    /// Whether the disk has room for all of these even if it holds nothing of them yet: then nobody has to look at their
    /// partial files. False too where another run has the library now; does not look whether it is the same disk.
    ///
    /// - Parameter totals: lengths of the transfers under way and of the one to be begun, as far as they are known.
    func hasRoom(for totals: [Int64?]) -> Bool {
        guard (try? requireHeld()) != nil, let space = try? DiskSpace(of: library) else { return false }
        return space.missing(for: totals.saturatedSum { $0 ?? 0 }, leaving: minFreeSpace) == nil
    }

    /// - Parameter loads: the transfers under way and the one to be begun.
    /// - Throws: ``Failure`` that ends the run, when the disk is another, or they would not leave as much of it free as
    ///   they have to.
    func requireRoom(for loads: [Load]) throws {
        try requireSameDisk()
        let space = try DiskSpace(of: library)
        let toCome = bytesToCome(of: loads)
        guard let missing = space.missing(for: toCome, leaving: minFreeSpace) else { return }
        throw Failure.lackOfRoom(
            "the library \(library) has no room for more",
            why: "\(describeBytes(space.free)) are free, \(describeBytes(toCome)) are to come for what is under way, "
                + "and \(describeBytes(space.reserve(of: minFreeSpace))) are to stay free: \(describeBytes(missing)) are missing",
            remedy: "make room, or lower downloads.min-free-space, and run again; everything received so far is kept")
    }

    /// Bytes that the transfers are still to write.
    func bytesToCome(of loads: [Load]) -> Int64 { loads.map(stillToCome).saturatedSum(of: \.self) }

    /// How many bytes are missing for so many more.
    /// - Parameter reserve: bytes to leave free at least, whatever the settings say.
    /// - Returns: nil when there is room.
    func missingRoom(for toCome: Int64, reserve: Int64 = 0) throws -> Int64? {
        try DiskSpace(of: library).missing(for: toCome, leaving: max(minFreeSpace, reserve))
    }

    /// What the disk already holds of a transfer takes no more room.
    private func stillToCome(of load: Load) -> Int64 {
        guard let total = load.total else { return 0 }
        var status = stat()
        guard lstat(partialFolder + "/" + load.name, &status) == 0 else { return total }
        return max(0, total - Int64(status.st_blocks) * 512)
    }

    private func vanished(why: Message) -> Failure {
        .libraryVanished(library, why: "\(partialFolder): \(why)")
    }
}
