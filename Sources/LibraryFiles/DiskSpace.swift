import BookModel
import Foundation

/// The room on a filesystem, in bytes.
package struct DiskSpace: Sendable, Hashable {
    /// What a user may still write.
    package var free: Int64
    /// What the filesystem holds in all, free or not.
    package var size: Int64

    package init(free: Int64, size: Int64) {
        self.free = free
        self.size = size
    }

    /// Of the filesystem that the folder lies on. Blocks on the disk.
    /// - Throws: ``Failure`` of kind `inputOutput`.
    package init(of folder: String) throws {
        var facts = statvfs()
        do {
            try systemCall { statvfs(folder, &facts) }
        } catch {
            throw Failure(
                .inputOutput, disposition: .stop, what: "the free space of the library \(folder) is unknown",
                why: error.message, remedy: "see that its disk is mounted")
        }
        func bytes(_ blocks: some BinaryInteger) -> Int64 {
            let (bytes, overflow) = UInt64(blocks).multipliedReportingOverflow(by: UInt64(facts.f_frsize))
            return overflow ? .max : Int64(clamping: bytes)
        }
        free = bytes(facts.f_bavail)
        size = bytes(facts.f_blocks)
    }

    /// How much of the disk is to stay free where `wanted` is asked for: never more than a tenth of it, so that small
    /// disks can be used at all.
    package func reserve(of wanted: Int64) -> Int64 {
        min(wanted, size / 10)
    }

    /// - Parameters:
    ///   - toCome: bytes that are still to be written.
    ///   - wanted: bytes that are to stay free; see ``reserve(of:)``.
    /// - Returns: the bytes that are missing; nil when there is room, and where nobody knows (some filesystems in user
    ///   space say of everything that it is 0).
    package func missing(for toCome: Int64, leaving wanted: Int64) -> Int64? {
        guard size > 0 else { return nil }
        let (needed, overflow) = toCome.addingReportingOverflow(reserve(of: wanted))
        if overflow { return .max }
        return needed > free ? needed - free : nil
    }

    /// What is missing, and beside what; nil as of ``missing(for:leaving:)``.
    package func lack(for toCome: Int64, leaving wanted: Int64) -> Message? {
        missing(for: toCome, leaving: wanted).map { missing in
            "\(describeBytes(free)) are free, \(describeBytes(toCome)) are needed, "
                + "and \(describeBytes(reserve(of: wanted))) are to stay free: \(describeBytes(missing)) are missing"
        }
    }
}
