import BookModel
import Foundation

/// One file of an archive item, as its metadata lists it.
struct ArchiveFile {
    private(set) var name = ""
    private(set) var format = ""
    /// The names of what it was made from; none for an original.
    private(set) var originals: [String] = []
    private(set) var isDerivative = false
    private(set) var isPrivate = false
    private(set) var size: Int64?
    /// Seconds.
    private(set) var length: Double?
    private(set) var track: Int?
    private(set) var title: String?
    private(set) var sha1: String?
    private(set) var md5: String?
    private(set) var modifiedAt: Date?

    /// - Returns: nil for an element that names no file, or none that has an address.
    init?(_ value: JSONValue) {
        for (key, member) in value.members {
            switch key {
            case "name": name = member.text ?? ""
            case "format": format = CatalogText.trimmed(member.text ?? "")
            case "source": isDerivative = member.string == "derivative"
            case "original": originals = Self.texts(member)
            case "private": isPrivate = member.text == "true" || member.source == "true"
            case "size": size = FileSize.sensible(member.integer)
            case "length": length = member.text.flatMap { CatalogDuration.archivedSeconds(parsing: $0) }
            case "track": track = member.text.flatMap { Self.trackNumber($0) }
            case "title": title = Self.texts(member).first.map { CatalogText.name(String($0.prefix(1000))) }
            case "sha1": sha1 = Self.digest(member, length: 40)
            case "md5": md5 = Self.digest(member, length: 32)
            case "mtime":
                modifiedAt = member.integer.flatMap {
                    (1..<253_402_300_800).contains($0) ? Date(timeIntervalSince1970: Double($0)) : nil
                }
            default: break
            }
        }
        if title?.isEmpty == true { title = nil }
        let segments = name.split(separator: "/", omittingEmptySubsequences: false)
        guard !name.isEmpty, name.utf8.count <= Self.maxName, !segments.contains(where: AddressPath.isDots),
            !name.utf8.contains(0)
        else { return nil }
    }

    var role: FileRole { FileRole(ofName: name) }

    /// A whole book in one file, which lies beside the files of its parts.
    var isWholeBook: Bool {
        format.lowercased().contains("apple audiobook") || name.lowercased().hasSuffix(".m4b")
    }

    /// The stronger of the digests that are listed.
    var digest: ContentDigest? {
        sha1.map { ContentDigest(algorithm: .sha1, hexadecimal: $0) }
            ?? md5.map { ContentDigest(algorithm: .md5, hexadecimal: $0) }
    }

    /// `7`, `07`, `24/119`; nil for garbage.
    static func trackNumber(_ text: String) -> Int? {
        let sides = CatalogText.trimmed(text).split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count <= 2, let number = Int(sides[0].trimmingCharacters(in: .whitespaces)),
            (1...99_999).contains(number)
        else { return nil }
        return number
    }

    /// The strings of a member that is a string, or an array of some.
    static func texts(_ value: JSONValue) -> [String] {
        let texts =
            value.kind == .array ? value.elements.prefix(1000).compactMap(\.text) : [value.text].compactMap(\.self)
        return texts.filter { !$0.isEmpty }
    }

    private static func digest(_ value: JSONValue, length: Int) -> String? {
        guard let text = value.string, text.utf8.count == length,
            text.utf8.allSatisfy({ $0.hexadecimalValue != nil })
        else { return nil }
        return text
    }

    private static let maxName = 2000
}
