import BookModel
import Foundation

/// What is configured of the Internet Archive, or of a mirror of it.
package struct InternetArchiveSettings: Sendable {
    package static let standardAddress = ResourceAddress("https://archive.org")

    /// Where `/metadata/ID` and `/download/ID/NAME` are found.
    package var address: ResourceAddress
    /// Formats as the archive calls them, the preferred one first; whatever is not among them is not taken. Empty takes
    /// whatever audio there is, in the order of ``standardFormats``.
    package var formats: [String]
    /// For the archive's own origin.
    package var credentials: CatalogCredentials

    package init(
        address: ResourceAddress = standardAddress, formats: [String] = [], credentials: CatalogCredentials = .init()
    ) {
        self.address = address
        self.formats = formats
        self.credentials = credentials
    }

    /// What is taken first where nothing is configured: what every player plays, then what most do, then what is large.
    package static let standardFormats = [
        "VBR MP3", "320Kbps MP3", "256Kbps MP3", "192Kbps MP3", "160Kbps MP3", "128Kbps MP3", "MP3", "96Kbps MP3",
        "64Kbps MP3", "56Kbps MP3", "48Kbps MP3", "32Kbps MP3", "Ogg Vorbis", "Opus", "MPEG-4 Audio",
        "Advanced Audio Coding", "Flac", "24bit Flac", "Apple Lossless Audio", "AIFF", "WAVE",
    ]

    /// The rank of a format, lower is better; nil when it is not to be taken.
    func rank(ofFormat format: String) -> Int? {
        let isListed = { (name: String) in name.caseInsensitiveCompare(format) == .orderedSame }
        if !formats.isEmpty { return formats.firstIndex(where: isListed) }
        return Self.standardFormats.firstIndex(where: isListed) ?? Self.standardFormats.count
    }

    /// The rank of a file: a public file comes before any private one.
    func rank(of file: ArchiveFile) -> Int? {
        rank(ofFormat: file.format).map { file.isPrivate ? $0 + Self.standardFormats.count + formats.count + 1 : $0 }
    }

    /// - Parameter name: with slashes where the item has folders.
    func downloadAddress(of item: String, file name: String) -> ResourceAddress {
        // Parameters that the listing was asked with are none of the file's.
        let base = ResourceAddress(String(address.secretText.prefix { $0 != "?" && $0 != "#" }))
        return base.appending(path: "download/" + AddressPath.encoded(item) + "/" + AddressPath.encoded(path: name))
    }
}

/// Addresses of archive items.
package enum ArchiveAddress {
    /// The item that a details, download, metadata, embed or stream address of any host names.
    static func item(in text: String) -> String? {
        let address = ResourceAddress(CatalogText.trimmed(text))
        let segments = address.pathText.split(separator: "/")
        let pages: Set<Substring> = ["details", "download", "metadata", "embed", "stream"]
        guard let page = segments.firstIndex(where: pages.contains), page + 1 < segments.count else { return nil }
        let item = AddressPath.name(segments[page + 1])
        return isItem(item) ? item : nil
    }

    /// Whether a text can be an item's identifier at all.
    package static func isItem(_ text: String) -> Bool {
        guard (1...200).contains(text.utf8.count), !AddressPath.isDots(text) else { return false }
        return text.utf8.allSatisfy { byte in
            byte.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                || "._-@".utf8.contains(byte)
        }
    }
}
