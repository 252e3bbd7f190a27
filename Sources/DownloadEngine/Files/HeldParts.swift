import BookModel
import Crypto
import Foundation
import LibraryFiles

/// Which bytes of a large partial file are there, whose parts come over several connections, each at its place. It is kept beside
/// the bytes and written after 32 KiB of them, so that a kill loses little; where a filesystem keeps no such attribute, a file
/// comes over one connection.
///
/// Such a file is one byte longer than it will be. So whoever meets it without the attribute, as in a copy, sees that its length
/// tells nothing.
package struct HeldParts: Equatable, Sendable {
    /// Stands for the validator and the length of the file that they are parts of: those of two versions never meet.
    var version: String
    /// Of the machine when they were written.
    var bootID: String
    /// In their order, none of which touches the next.
    var written: [Range<Int64>]
    /// Those among them that are known to have reached the disk.
    var synced: [Range<Int64>] = []

    /// nil where nothing was written that can be read.
    static func of(_ descriptor: CInt) -> HeldParts? {
        let lines = ExtendedAttribute.parts.value(of: descriptor)?
            .split(separator: "\n", omittingEmptySubsequences: false)
        guard let lines, lines.count == 4, let written = ranges(lines[2]), let synced = ranges(lines[3]) else {
            return nil
        }
        var status = stat()
        // Of a file that was cut since, nobody knows what else became of it.
        let isCut =
            fstat(descriptor, &status) != 0 || (written + synced).contains { $0.upperBound > Int64(status.st_size) }
        return HeldParts(
            version: String(lines[0]), bootID: String(lines[1]), written: isCut ? [] : written,
            synced: isCut ? [] : synced)
    }

    /// - Returns: whether the filesystem keeps it.
    func write(to descriptor: CInt) -> Bool {
        let lines =
            [version, bootID]
            + [written, synced].map { ranges in
                ranges.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: " ")
            }
        return ExtendedAttribute.parts.set(to: lines.joined(separator: "\n"), of: descriptor)
    }

    private static func ranges(_ line: Substring) -> [Range<Int64>]? {
        var ranges: [Range<Int64>] = []
        for word in line.split(separator: " ") {
            let bounds = word.split(separator: "-").compactMap { Int64($0) }
            guard bounds.count == 2, ranges.last?.upperBound ?? -1 < bounds[0], bounds[0] < bounds[1] else {
                return nil
            }
            ranges.append(bounds[0]..<bounds[1])
        }
        return ranges
    }

    static func version(of validator: ContentValidator, total: Int64) -> String {
        SHA256.hash(data: Array("\(validator.ifRange ?? "")\u{0}\(total)".utf8)).prefix(8).hexadecimal
    }

    /// What is there for certain: after another boot, what was synced.
    package var trusted: [Range<Int64>] {
        BootIdentity.current != nil && bootID == BootIdentity.current ? written : synced
    }

    /// Bytes from the beginning on that are there.
    package var front: Int64 { trusted.first.flatMap { $0.lowerBound == 0 ? $0.upperBound : nil } ?? 0 }
    /// Bytes of all of them.
    package var count: Int64 { trusted.saturatedSum { $0.upperBound - $0.lowerBound } }
}
