import BookModel
import LibraryFiles

/// Which answer the bytes of a small file are of, written beside them. It takes the place of a transaction of the journal
/// that would cost more than the bytes do, and like that it comes before the first of them.
extension PartialFile {
    struct Origin: Equatable {
        var validator: ContentValidator
        /// Bytes of the whole.
        var total: Int64
        /// Of the machine when the bytes were written: none of them is known to have reached the disk.
        var bootID: String
    }

    /// - Returns: whether the filesystem keeps it.
    func setOrigin(_ origin: Origin) -> Bool {
        let validator = origin.validator
        let lines = [
            origin.bootID, "\(origin.total)", validator.age.map { "\($0)" } ?? "", validator.lastModified ?? "",
            validator.entityTag ?? "",
        ]
        return ExtendedAttribute.origin.set(to: lines.joined(separator: "\n"), of: descriptor)
    }

    func removeOrigin() { ExtendedAttribute.origin.remove(from: descriptor) }

    /// nil where nothing was written that can be read.
    var origin: Origin? {
        let lines = ExtendedAttribute.origin.value(of: descriptor)?
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let lines, lines.count == 5, let total = Int64(lines[1]), (1...FileSize.max).contains(total) else {
            return nil
        }
        func unlessEmpty(_ line: String) -> String? { line.isEmpty ? nil : line }
        return Origin(
            validator: ContentValidator(
                entityTag: unlessEmpty(lines[4]), lastModified: unlessEmpty(lines[3]), age: Int(lines[2])),
            total: total, bootID: lines[0])
    }
}
