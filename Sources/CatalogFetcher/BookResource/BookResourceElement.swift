import BookModel
import Foundation

/// An element of `list`: the fields that make an episode, each as sane as it can be made.
struct BookResourceElement {
    private var id: JSONValue?
    private var statedSection: Int64?
    private var name = ""
    private var path: String?
    private var size: Int64?
    private var length: Double?
    private var modified: Int64?
    private var published: Int64?

    /// - Returns: nil when the element is no object.
    init?(_ value: JSONValue) {
        guard value.kind == .object else { return nil }
        // One walk over the members, whatever their number; of duplicates the last stays.
        for (key, member) in value.members {
            switch key {
            case "id": id = member
            case "resId": id = id ?? member
            case "section": statedSection = member.integer
            case "name": name = CatalogText.name(Self.cut(member.text ?? ""))
            case "resName":
                // The web's shape percent-encodes names.
                let text = Self.cut(member.text ?? "")
                if name.isEmpty { name = CatalogText.name(text.removingPercentEncoding ?? text) }
            case "path": path = member.string
            case "size": size = member.integer
            case "length": length = member.double
            case "lastModify": modified = member.integer
            case "onlineTime": published = member.integer
            default: break
            }
        }
    }

    /// A name of more than 1,000 characters is none.
    private static func cut(_ text: String) -> String { text.utf8.count <= 1000 ? text : String(text.prefix(1000)) }

    /// The catalog's own number, where it is a sensible one.
    var section: Int? {
        guard let statedSection, (0...9_999_999).contains(statedSection) else { return nil }
        return Int(statedSection)
    }

    /// Under which the catalog keeps the episode: its id, exact to 64 bits; without an id, its section; nil without
    /// either.
    var key: String? {
        if let id, let text = id.text {
            // `7`, `7.0` and `"7"` are one id. Zero is what servers write for none.
            let key = id.integer.map(String.init) ?? CatalogText.trimmed(text)
            if !key.isEmpty, key != "0" { return key }
        }
        return section.map { "section-\($0)" }
    }

    /// - Parameters:
    ///   - position: where the element stands in the listing, from 1 on.
    ///   - catalog: the address that the listing came from.
    func episode(identity: EpisodeIdentity, position: Int, catalog: ResourceAddress) -> Episode {
        Episode(
            identity: identity, section: section ?? position, name: name, address: address(from: catalog),
            size: FileSize.sensible(size),
            duration: length.flatMap { $0 > 0 && $0 <= Self.maxLength ? $0 : nil },
            publishedAt: published.flatMap(Self.date), modifiedAt: modified.flatMap(Self.date))
    }

    /// Whether there is something where the address belongs, be it one that can be fetched or not.
    var namesAddress: Bool { path.map(CatalogAddress.names) ?? false }

    /// Only the address opens an episode: `state` -2 (hidden) and `payType` say why there is none, and where there is
    /// one, the catalog offers it.
    private func address(from catalog: ResourceAddress) -> ResourceAddress? {
        path.flatMap { CatalogAddress.resolve($0, against: catalog) }
    }

    /// 30 days: what lies beyond is a mistake.
    private static let maxLength: Double = 30 * 86400

    /// From milliseconds since 1970, within the years that a calendar shows with four digits.
    private static func date(milliseconds: Int64) -> Date? {
        guard milliseconds > 0, milliseconds < 253_402_300_800_000 else { return nil }
        return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}
