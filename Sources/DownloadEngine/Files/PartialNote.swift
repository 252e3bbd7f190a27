import BookModel
import Foundation
import LibraryFiles

/// Which answer the bytes of a file are of, written beside them, and like the journal's record before the first of them. Of a
/// small file it takes the place of that, which would cost more than the bytes do; any is gone on with by it when the store is
/// lost, or another machine has an older copy.
extension PartialFile {
    package struct Origin: Equatable, Sendable {
        var validator: ContentValidator
        /// Bytes of the whole.
        var total: Int64
        /// Of the machine when the bytes were written.
        var bootID: String
        /// Bytes that are known to have reached the disk.
        var committedLength: Int64 = 0
    }

    /// - Returns: whether the filesystem keeps it.
    func setOrigin(_ origin: Origin) -> Bool { ExtendedAttribute.origin.set(to: origin.text, of: descriptor) }

    func removeOrigin() { ExtendedAttribute.origin.remove(from: descriptor) }

    var origin: Origin? { Origin(of: descriptor) }

    /// What a partial file says of its bytes that nobody has open here. May block on the disk.
    package static func facts(at path: String) -> (origin: Origin?, parts: HeldParts?) {
        let descriptor = uninterrupted { Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
        guard descriptor >= 0 else { return (nil, nil) }
        defer { Foundation.close(descriptor) }
        return (Origin(of: descriptor), HeldParts.of(descriptor))
    }
}

extension PartialFile.Origin {
    /// nil where the length of the whole is not known, or the machine not told apart from itself after another boot.
    init?(of record: TransferRecord) {
        guard let total = record.total, let bootID = record.bootID else { return nil }
        self.init(
            validator: record.validator, total: total, bootID: bootID, committedLength: record.committedLength)
    }

    /// nil where nothing was written that can be read.
    fileprivate init?(of descriptor: CInt) {
        let lines = ExtendedAttribute.origin.value(of: descriptor)?
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let lines, lines.count == 6, let total = Int64(lines[1]),
            (1...FileSize.max).contains(total)
        else {
            return nil
        }
        func unlessEmpty(_ line: String) -> String? { line.isEmpty ? nil : line }
        validator = ContentValidator(
            entityTag: unlessEmpty(lines[4]), lastModified: unlessEmpty(lines[3]), age: Int(lines[2]))
        self.total = total
        bootID = lines[0]
        committedLength = max(0, Int64(lines[5]) ?? 0)
    }

    fileprivate var text: String {
        [
            bootID, "\(total)", validator.age.map { "\($0)" } ?? "", validator.lastModified ?? "",
            validator.entityTag ?? "", "\(committedLength)",
        ].joined(separator: "\n")
    }
}

extension TransferRecord {
    /// Whether it knows of no bytes.
    var isFresh: Bool { validator == ContentValidator() && total == nil && committedLength == 0 }

    /// Takes over what the partial file says of its bytes, where nothing else is known of them.
    package mutating func complete(from origin: PartialFile.Origin?) {
        guard isFresh, let origin else { return }
        validator = origin.validator
        total = origin.total
        bootID = origin.bootID
        committedLength = origin.committedLength
    }
}
