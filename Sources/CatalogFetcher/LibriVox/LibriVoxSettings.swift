import BookModel

/// What is configured of LibriVox, or of a mirror of it.
package struct LibriVoxSettings: Sendable {
    package static let standardAddress = ResourceAddress("https://librivox.org")

    /// Where `/api/feed/audiobooks` is found.
    package var address: ResourceAddress
    /// For LibriVox's own origin.
    package var credentials: CatalogCredentials
    /// Where the files of sections are found that LibriVox gives no address for.
    package var archive: InternetArchiveSettings

    package init(
        address: ResourceAddress = standardAddress, credentials: CatalogCredentials = .init(),
        archive: InternetArchiveSettings = .init()
    ) {
        self.address = address
        self.credentials = credentials
        self.archive = archive
    }

    func bookAddress(of id: String) -> ResourceAddress {
        let base = ResourceAddress(String(address.secretText.prefix { $0 != "?" && $0 != "#" }))
        return ResourceAddress(
            base.appending(path: "api/feed/audiobooks").secretText
                + "?id=\(AddressPath.encoded(id))&extended=1&format=json")
    }
}
