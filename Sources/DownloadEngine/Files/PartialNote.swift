import BookModel
import Foundation
import LibraryFiles

/// What a partial file says of its bytes: which answer they are of, and which of them are there. It is written like the journal's
/// record before the first of them. Of a small file it takes the place of that, which would cost more than the bytes do; any is
/// gone on with by it when the store is lost, or another machine has an older copy.
///
/// A file whose parts come over several connections, each at its place, is one byte longer than it will be. So whoever meets it
/// without the note, as in a copy, sees that its length tells nothing. Where a filesystem keeps no note, a file comes over one
/// connection.
package struct PartialNote: Hashable, Sendable {
    var validator: ContentValidator
    /// Bytes of the whole.
    var total: Int64
    /// Of the machine when the bytes were written.
    var bootID: String
    /// Those that are known to have reached the disk, in their order; none of these ranges touches the next.
    var synced: [Range<Int64>] = []
    /// All that are there of a file in parts; nil for one that grows at its end.
    var written: [Range<Int64>]?

    /// Whether it speaks of the version of the file that has the validator and the length.
    func isOf(_ validator: ContentValidator, total: Int64?) -> Bool {
        self.validator.ifRange == validator.ifRange && self.total == total
    }

    private static func front(_ ranges: [Range<Int64>]) -> Int64 {
        ranges.first.flatMap { $0.lowerBound == 0 ? $0.upperBound : nil } ?? 0
    }

    /// Bytes from the beginning on that are known to have reached the disk.
    var committedLength: Int64 { Self.front(synced) }

    /// Of a file in parts, what is there for certain: after another boot, what was synced. Nil for one that grows at its end.
    package var trustedParts: [Range<Int64>]? {
        written.map { BootIdentity.current != nil && bootID == BootIdentity.current ? $0 : synced }
    }

    /// Of a file in parts, the bytes that are there for certain: those from the beginning on, and all.
    package var countOfParts: (front: Int64, all: Int64)? {
        trustedParts.map { (Self.front($0), $0.bytes) }
    }
}

extension PartialNote {
    /// nil where the length of the whole is not known, or the machine not told apart from itself after another boot.
    init?(of record: TransferRecord) {
        guard let total = record.total, let bootID = record.bootID else { return nil }
        let committed = record.committedLength
        self.init(
            validator: record.validator, total: total, bootID: bootID, synced: committed > 0 ? [0..<committed] : [])
    }

    /// nil where nothing was written that can be read.
    init?(of descriptor: CInt) {
        guard let note = FileNote(of: descriptor), let bootID = note[.boot],
            let total = note[.total].flatMap(Int64.init), (1...FileSize.max).contains(total),
            let synced = Self.ranges(note[.synced] ?? "")
        else { return nil }
        let validator = ContentValidator(
            entityTag: note[.tag], lastModified: note[.modified], age: note[.age].flatMap { Int($0) })
        self.init(validator: validator, total: total, bootID: bootID, synced: synced)
        guard let parts = note[.written] else { return }
        guard let written = Self.ranges(parts) else { return nil }
        var status = stat()
        // Of a file that was cut since, nobody knows what else became of it.
        let isCut =
            fstat(descriptor, &status) != 0 || (written + synced).contains { $0.upperBound > Int64(status.st_size) }
        (self.written, self.synced) = isCut ? ([], []) : (written, synced)
    }

    /// As the file keeps it.
    var fileNote: FileNote {
        var note = FileNote()
        (note[.boot], note[.total], note[.age]) = (bootID, "\(total)", validator.age.map { "\($0)" })
        (note[.modified], note[.tag]) = (validator.lastModified, validator.entityTag)
        note[.synced] = synced.isEmpty ? nil : Self.line(synced)
        note[.written] = written.map(Self.line)
        return note
    }

    private static func line(_ ranges: [Range<Int64>]) -> String {
        ranges.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: " ")
    }

    private static func ranges(_ line: String) -> [Range<Int64>]? {
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

    /// What a partial file says that nobody has open here. May block on the disk.
    package static func at(_ path: String) -> PartialNote? {
        let descriptor = uninterrupted { Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
        guard descriptor >= 0 else { return nil }
        defer { Foundation.close(descriptor) }
        return PartialNote(of: descriptor)
    }
}

extension [Range<Int64>] {
    var bytes: Int64 { saturatedSum { $0.upperBound - $0.lowerBound } }
}

extension TransferRecord {
    /// Whether it knows of no bytes.
    var isFresh: Bool { validator == ContentValidator() && total == nil && committedLength == 0 }

    /// Takes over what the partial file says of its bytes, where nothing else is known of them, or where it knows that more of them
    /// reached the disk.
    package mutating func complete(from note: PartialNote?) {
        guard let note else { return }
        if isFresh { (validator, total, bootID) = (note.validator, note.total, note.bootID) }
        if validator.ifRange != nil, note.isOf(validator, total: total) {
            committedLength = max(committedLength, note.committedLength)
        }
    }
}
