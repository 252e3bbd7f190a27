import BookModel

/// What is configured of a web server's directories, each of which is a book.
package struct DirectorySettings: Sendable {
    /// The folder that books are named below; nil where every book is named by its whole address.
    package var address: ResourceAddress?
    /// Levels of folders that are read: 1 is the directory itself, 2 its sub-directories as well, as discs.
    package var depth: Int
    /// For the server of ``address`` only.
    package var credentials: CatalogCredentials

    package init(address: ResourceAddress? = nil, depth: Int = 1, credentials: CatalogCredentials = .init()) {
        self.address = address
        self.depth = depth
        self.credentials = credentials
    }

    package static let depths = 1...8

    /// The address of a book's directory.
    ///
    /// - Parameter id: a whole address, or a path below ``address``; `.` is that folder itself.
    /// - Returns: nil when the id names no directory.
    func directory(of id: String) -> ResourceAddress? {
        if id.contains("://") {
            // The configured address may hold what the id must not.
            if let address, address.withoutSecrets == id { return address }
            let named = ResourceAddress(id)
            return named.isOfWeb ? named : nil
        }
        guard let address else { return nil }
        if id == "." { return address }
        let segments = id.split(separator: "/")
        guard !segments.isEmpty, !segments.contains(where: AddressPath.isDots), !id.utf8.contains(0) else { return nil }
        return address.appending(path: segments.map { AddressPath.encoded($0) }.joined(separator: "/") + "/")
    }

    /// Credentials go to the configured server and nowhere else.
    func credentials(for directory: ResourceAddress) -> CatalogCredentials {
        directory.server == address?.server ? credentials : CatalogCredentials()
    }
}
