import BookModel
import Foundation
import LibraryFiles
import Synchronization

/// Looks at the library's disk while a run goes on: that it is still the one that the run began on, that no other run took it over,
/// and that it has room for what is to come.
///
/// Every look may block on the disk: it is taken on a thread of the engine's own.
final class DiskGuard: Sendable {
    private let library: String
    private let partialFolder: String
    private let minFreeSpace: Int64
    /// `minFreeSpace`, or what the store needs where that is 0.
    private let reserve: Int64
    /// Bytes that the store's journal takes before it is written back.
    private static let storeGrowth: Int64 = 4 << 20
    /// Bytes that the store and others may write until the disk is looked at again.
    private static let margin: Int64 = 64 << 20
    /// Device and inode of the folder of the partial files at the first look.
    private let began = Mutex<(dev_t, ino_t)?>(nil)
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
        (self.library, self.partialFolder, self.requireHeld) = (library, partialFolder, requireHeld)
        self.minFreeSpace = minFreeSpace
        reserve = minFreeSpace > 0 ? minFreeSpace : Self.storeGrowth
    }

    /// - Throws: ``Failure`` that ends the run, when the folder of the partial files is another than at the first look, or another
    ///   run took the library over.
    func requireSameDisk() throws {
        var status = stat()
        guard lstat(partialFolder, &status) == 0 else {
            throw vanished(why: Message(errno: errno))
        }
        let current = (status.st_dev, status.st_ino)
        let first = began.withLock { began in
            began = began ?? current
            return began ?? current
        }
        guard first == current else { throw vanished(why: "another folder stands at its path") }
        try requireHeld()
    }

    /// What failed because the library went away, at whatever step that was met, failed for that reason.
    func cause(of failure: any Error) -> any Error {
        do { try requireSameDisk() } catch { return error }
        return failure
    }

    /// - Parameter transfers: those under way and the one to be begun.
    /// - Returns: bytes for which there is room besides, whatever else is written in the meantime; not above 0 where the disk is
    ///   nearly full.
    /// - Throws: ``Failure`` that ends the run, when the disk is another, or they would not leave as much of it free as
    ///   they have to.
    func requireRoom(for transfers: [EngineRun.Transfer]) throws -> Int64 {
        try requireSameDisk()
        let space = try DiskSpace(of: library)
        // Where the disk has room for all even if it holds nothing of them yet, nobody has to look at their partial files.
        let lengths = transfers.saturatedSum { $0.length ?? 0 }
        if space.missing(for: lengths, leaving: reserve) == nil {
            return (space.free - space.reserve(of: reserve) - Self.margin).subtractingSaturated(lengths)
        }
        guard let why = space.lack(for: bytesToCome(of: transfers), leaving: reserve) else { return 0 }
        throw lackOfRoom(why)
    }

    /// - Parameter why: the numbers.
    func lackOfRoom(_ why: Message) -> Failure {
        .lackOfRoom("the library \(library) has no room for more", why: why, leaving: minFreeSpace)
    }

    /// Bytes that the transfers are still to write.
    func bytesToCome(of transfers: [EngineRun.Transfer]) -> Int64 { transfers.saturatedSum(of: stillToCome) }

    /// How many bytes are missing for so many more.
    /// - Parameter reserve: bytes to leave free at least, whatever the settings say.
    /// - Returns: nil when there is room.
    func missingRoom(for toCome: Int64, reserve: Int64 = 0) throws -> Int64? {
        try DiskSpace(of: library).missing(for: toCome, leaving: max(self.reserve, reserve))
    }

    /// What the disk already holds of a transfer takes no more room.
    private func stillToCome(of transfer: EngineRun.Transfer) -> Int64 {
        guard let total = transfer.length else { return 0 }
        var status = stat()
        guard lstat(partialFolder + "/" + transfer.partialName, &status) == 0 else { return total }
        return max(0, total - Int64(status.st_blocks) * 512)
    }

    private func vanished(why: Message) -> Failure {
        .libraryVanished(library, why: "\(partialFolder): \(why)")
    }
}
