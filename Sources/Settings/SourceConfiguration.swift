import BookModel
import CatalogFetcher
import LibraryFiles
import Transport

/// A configured catalog: where it is, in which format, with which credentials.
package struct SourceConfiguration: Sendable, Hashable {
    /// A query parameter or a header; the order is that of the file.
    package struct Field: Sendable, Hashable {
        package var name: String
        package var value: Secret
    }

    /// A `${NAME}` that the environment does not have.
    package struct UnsetVariable: Sendable, Hashable {
        package var name: String
        package var file: String
        package var line: Int
    }

    package var name: String
    package var kind: SourceKind
    package var url: ResourceAddress?
    /// Where a book-resource catalog tells title, author and cover.
    package var detailURL: ResourceAddress?
    /// Where a book-resource catalog is searched; `{query}` stands for the text.
    package var searchURL: ResourceAddress?
    /// Where LibriVox's archive items are asked for; nil for the Internet Archive itself.
    package var archiveURL: ResourceAddress?
    package var query: [Field] = []
    package var signature: BookResourceSettings.Signature?
    package var headers: [Field] = []
    package var downgrade = DowngradeRule.withoutCredentials
    /// Elements to ask for on a page; nil leaves it to the source.
    package var pageSize: Int?
    /// Whether the catalog may name addresses on this machine and on private networks.
    package var allowsPrivateAddresses = false
    /// Bytes per second that its transfers may take together; 0 for no limit but that of all transfers.
    package var limitRate: Int64 = 0
    /// Which episodes of its books stay on disk where their subscriptions say nothing; nil for all.
    package var keep: KeepRule?
    /// Nil for ``Configuration/onCatalogChange``.
    package var onCatalogChange: CatalogChangeRule?
    /// Which way the catalog and its audio are asked.
    package var proxy = ProxyChoice.environment
    /// What its servers are told of who asks.
    package var authorization: Authorization?
    package var cookies: NamedFile<CookieFile>?
    /// Certificates that are trusted beside those of the machine and ``Configuration/authorities``.
    package var authorities: NamedFile<TrustedAuthorities>?
    /// Internet Archive formats, the preferred first; empty leaves it to the source.
    package var formats: [String] = []
    /// Levels of folders that a directory is read down to; nil leaves it to the source.
    package var depth: Int?
    /// How the files of its books are named; nil for ``Configuration/naming``.
    package var naming: NamingTemplate?
    /// Variables that were not set when the file was read. Their values still hold the `${NAME}`.
    package var unsetVariables: [UnsetVariable] = []
    /// Files that could not be read when the configuration was. Their values are empty.
    package var faults: [Failure] = []

    package init(name: String, kind: SourceKind) {
        self.name = name
        self.kind = kind
    }

    /// Where the source itself is, as far as that is configured or goes without saying: its credentials go to these
    /// servers. Empty for one whose books are named by their own addresses.
    package var ownAddresses: [ResourceAddress] {
        let standard: ResourceAddress? =
            switch kind {
            case .librivox: LibriVoxSettings.standardAddress
            case .internetArchive: InternetArchiveSettings.standardAddress
            case .bookResource, .feed, .directory, .opds, .audiobookshelf: nil
            }
        return [url ?? standard, detailURL, searchURL, archiveURL].compactMap(\.self)
    }

    /// The address of its feed, where it is a source of one; nil for any other.
    package var onlyFeed: ResourceAddress? {
        guard kind == .feed, let url, !url.secretText.contains("{id}") else { return nil }
        return url
    }

    /// Everything that keeps the source from being asked.
    package var shortcomings: [Failure] {
        unsetVariables.map { missing in
            Failure(
                .configuration, disposition: .stop, what: "the source '\(name)' cannot be used",
                why: "\(missing.file), line \(missing.line): the environment has no variable \(missing.name)",
                remedy: "set \(missing.name), or write the value in its place")
        } + faults
    }

    /// To be called before the source is asked anything. An unset variable, or a secret's file that is not there, is no
    /// error before that, so that a laptop without the token still lists its shelf.
    /// - Throws: ``Failure`` of kind `configuration` that names the variable or key, the file and the line.
    package func requireVariables() throws {
        if let first = shortcomings.first { throw first }
    }
}
