import BookModel
import LibraryFiles
import Transport

/// Everything that the user can set, after the file, the environment and the command line had their say.
package struct Configuration: Sendable, Hashable {
    /// The folder that holds the audio; absolute once loaded. Of several libraries the one that new books go to.
    package var library: String
    /// Those of the file's `libraries`, in order; none where there is only ``library``. See ``libraries``.
    package var configuredLibraries: [LibraryPlace] = []
    /// Which of them new books go to; nil for the first.
    package var defaultLibraryPath: String?
    /// Whether the command line or the environment chose ``library``, and no other is looked at.
    package var isOneLibraryChosen = false
    /// The folder below which the stores of libraries lie; nil where each lies in its library. Absolute once loaded.
    package var storeFolder: String?
    /// The source that a bare ID belongs to: what is set, else the only source there is. Nil when there are none, or several
    /// and none was chosen.
    package var defaultSource: String?
    /// Of the books that neither their subscription nor their source has one for; see ``Namings``.
    package var naming: NamingTemplate
    /// Instead of all that is configured or subscribed to, for a plan.
    package var namingOverride: NamingTemplate?
    package var downloads: DownloadSettings
    package var onCatalogRemoval: CatalogRemoval
    /// The rule for books whose subscription and source have none.
    package var onCatalogChange = CatalogChangeRule.replace
    package var notify: NotifySettings
    package var serve = ServeSettings()
    package var find = FindSettings()
    package var sources: [String: SourceConfiguration]
    package var subscriptions: [SubscriptionSetting] {
        didSet { subscribedAddresses = subscriptions.compactMap(\.reference.address) }
    }
    /// Those of the subscriptions that are addresses: looked for once, not for each book.
    private(set) var subscribedAddresses: [ResourceAddress] = []
    /// Certificates that are trusted beside those of the machine.
    package var authorities: NamedFile<TrustedAuthorities>?
    /// That the command speaks; nil for the locale's.
    package var language: Language?
    /// Seconds that removed files are kept in the trash.
    package var keptInTrash: Double = 30 * 86400
    /// Which netrc file is read.
    package var netrcChoice = NetrcChoice.standard
    /// What that file says.
    package var netrc = Netrc.empty
    /// Of the environment.
    package var proxies = ProxyEnvironment.none
    /// Whether a private address may be asked because a REF names it, or a stored subscription. A server's clients, and what
    /// they subscribe to, do not get at what only the machine reaches: there the configuration alone names such servers.
    package var trustsReferences = true
    /// Where workers that run at once tell each other which servers asked to be left alone; nil for one alone.
    package var waitsFolder: String?
    /// The books that addresses were found to name, for as long as the program runs.
    package var recognised: [ResourceAddress: BookIdentity] = [:]
    /// New addresses of books that are not recorded yet, for as long as the program runs.
    package var moved: [BookIdentity: ResourceAddress] = [:]
    /// Why addresses that were asked are not recognised, where that is to keep no other book from what is done with it.
    package var unrecognised: [ResourceAddress: Failure] = [:]
    /// The responses that were read to find that out, for the requests for these books; nil if none was.
    package var readResponses: ReadResponses?
    /// The books that the user named otherwise than by their ids, such as by their titles, by the words they used.
    package var named: [String: BookIdentity] = [:]

    /// The name of the built-in catalog. A configured source may take the name over.
    package static let demoSource = "demo"

    /// What holds where nothing is set.
    package static let builtIn = Configuration(
        library: "./Audiobooks", defaultSource: nil, naming: .standard, downloads: DownloadSettings(),
        onCatalogRemoval: .keep, notify: NotifySettings(), sources: [:], subscriptions: [])
}

/// Where users and passwords are looked up for servers that nothing else is configured for.
package enum NetrcChoice: Sendable, Hashable {
    /// `$NETRC`, else `~/.netrc`; neither needs to be there.
    case standard
    case nowhere
    case file(NamedFile<Netrc>)
}

/// How transfers are done.
package struct DownloadSettings: Sendable, Hashable {
    /// Episodes at once.
    package var jobs = 4
    package var jobsPerHost = 4
    package var order = TransferOrder.first
    /// Bytes a second over all transfers; 0 is no limit.
    package var limitRate: Int64 = 0
    /// How often a transfer that makes no progress is tried again within a run.
    package var retries = 5
    /// Seconds.
    package var connectTimeout: Double = 10
    /// Seconds without a byte.
    package var stallTimeout: Double = 30
    /// Bytes a second that a server has to send on average; 0 for no minimum.
    package var minRate: Int64 = 1000
    /// Seconds for a whole answer of a catalog.
    package var answerTimeout: Double = 600
    /// Bytes that stay free on the library's disk.
    package var minFreeSpace: Int64 = 500_000_000
    /// Bytes of a file at most, where neither the server nor the catalog says how long it is.
    package var maxUndeclaredSize: Int64 = 4_000_000_000
    /// What becomes of episodes whose file the user deleted.
    package var onMissingFile = MissingFileRule.fetch
    /// Whether a run looks into the audio files, where ffprobe is installed.
    package var probe = MediaProbing.auto
    /// What a run writes for players and servers into the folders of its books.
    package var export: [ExportKind] = [.cover]
    /// Whether a run embeds what the catalog says in the files.
    package var tags = TagChoice.off
    /// What a run joins its books into that are complete.
    package var join = JoinChoice.off
}

/// Whether a run embeds tags in audio files.
package enum TagChoice: String, Sendable, CaseIterable {
    case off, embed
}

/// Whether a run makes one file of each book's episodes, and which.
package enum JoinChoice: String, Sendable, CaseIterable {
    case off, m4b, mp3, mka
}

/// Whether booksync looks into audio files.
package enum MediaProbing: String, Sendable, CaseIterable {
    /// Where ffprobe is installed.
    case auto
    case off
}

/// What becomes of an episode's file when the catalog no longer lists it. Deleting is not among the choices.
package enum CatalogRemoval: String, Sendable, CaseIterable {
    case keep, report
}

/// Who is told when something was fetched or failed.
package struct NotifySettings: Sendable, Hashable {
    /// A command that gets the JSON summary; its arguments may hold a token.
    package var exec: Secret?
    /// Gets the JSON summary by POST; such addresses are often secrets themselves.
    package var webhook: Secret?
    /// The address of an Audiobookshelf server, its API token, and the id of the library there that has this folder; the
    /// server is asked to scan when a run changed files.
    package var audiobookshelf: String?
    package var audiobookshelfToken: Secret?
    package var audiobookshelfLibrary: String?
}

/// Where books are searched for, beside the configured sources.
package struct FindSettings: Sendable, Hashable {
    package var sources = PublicCatalog.allCases
    package var itunesURL = ResourceAddress("https://itunes.apple.com")
    package var fyydURL = ResourceAddress("https://api.fyyd.de/0.2")
}

/// A catalog that can be searched without any configuration.
package enum PublicCatalog: String, Sendable, CaseIterable {
    case librivox
    case internetArchive = "internet-archive"
    case itunes, fyyd
}

/// A book of the `subscriptions` section.
package struct SubscriptionSetting: Sendable, Hashable {
    /// In the default source, in a named one, or an address. Its own filter is already part of ``filter``.
    package var reference: BookReference
    /// Overrides what the catalog says.
    package var title: String?
    package var filter: EpisodeFilter
    /// In which order its episodes are fetched; nil for ``DownloadSettings/order``.
    package var order: TransferOrder?
    /// Beside those of its source.
    package var headers: [SourceConfiguration.Field] = []
    /// How much of it one run begins.
    package var limits = RunLimits()
    /// How its files are named; nil for the naming of its source, or of all.
    package var naming: NamingTemplate?
    /// Which of its episodes stay on disk; nil for what its source says, or all.
    package var keep: KeepRule?
    /// Nil for what its source says, or ``Configuration/onCatalogChange``.
    package var onCatalogChange: CatalogChangeRule?
    /// Of a list of books, of whose titles and dates the filter is.
    package var collection = CollectionFilter()
    /// The name of the library that it goes to while no library has it; nil for ``Configuration/library``.
    package var library: String?
}

/// What the command line overrides. Applied last.
package struct ConfigurationOverrides: Sendable, Hashable {
    /// As given with `--library`: a library's name, or a path that may be relative to the current folder.
    package var library: String?
    package var jobs: Int?
    /// Bytes a second; 0 is no limit.
    package var limitRate: Int64?
    package var order: TransferOrder?

    package init(library: String? = nil, jobs: Int? = nil, limitRate: Int64? = nil, order: TransferOrder? = nil) {
        self.library = library
        self.jobs = jobs
        self.limitRate = limitRate
        self.order = order
    }
}
