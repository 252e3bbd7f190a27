import BookModel

/// One section of a LibriVox book.
struct LibriVoxSection {
    private(set) var id: String?
    private(set) var number: Int?
    private(set) var title = ""
    private(set) var address: ResourceAddress?
    private(set) var fileName: String?
    /// Seconds.
    private(set) var duration: Double?
    private(set) var readers: [String] = []

    /// - Returns: nil for what is no section.
    init?(_ value: JSONValue) {
        guard value.kind == .object else { return nil }
        for (key, member) in value.members {
            switch key {
            case "id":
                let text = CatalogText.trimmed(member.text ?? "")
                id = text.isEmpty || text == "0" || text.utf8.count > 100 ? nil : text
            case "section_number":
                number = member.integer.flatMap { (0...99_999).contains($0) ? Int($0) : nil }
            case "title": title = member.name ?? ""
            case "listen_url": address = member.string.flatMap { Self.address($0) }
            case "file_name": fileName = member.string.flatMap { $0.isEmpty ? nil : $0 }
            case "playtime": duration = member.text.flatMap { CatalogDuration.archivedSeconds(parsing: $0) }
            case "readers":
                readers = member.elements.prefix(100).compactMap {
                    $0["display_name"]?.text.map { CatalogText.name(String($0.prefix(200))) }
                }.filter { !$0.isEmpty }
            default: break
            }
        }
    }

    /// The file's name without what only says how it is encoded, for finding it in the archive.
    var recordingName: String? {
        let name = fileName ?? address.flatMap { $0.pathText.split(separator: "/").last.map { AddressPath.name($0) } }
        return name.map { FileRole.recordingName(CatalogText.trimmed($0)) }
    }

    /// Whole addresses of the web only, with what hands in the catalog's forms have done to them undone: white space
    /// and byte order marks at the ends, the first letter missing.
    static func address(_ text: String) -> ResourceAddress? {
        var text = CatalogText.trimmed(text)
        guard text.utf8.count <= maxAddress else { return nil }
        if text.lowercased().hasPrefix("ttp://") || text.lowercased().hasPrefix("ttps://") { text = "h" + text }
        if text.hasPrefix("//") { text = "https:" + text }
        let address = ResourceAddress(text)
        return address.isOfWeb ? address : nil
    }

    /// Bytes. Servers refuse longer ones.
    private static let maxAddress = 16 << 10
}
