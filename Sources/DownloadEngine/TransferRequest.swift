import BookModel
import Transport

/// One episode for the engine to bring to disk.
package struct TransferRequest: Sendable {
    /// With its address in full.
    package var episode: Episode
    /// Where the file goes, relative to the library.
    package var path: String
    /// The journal of what earlier runs brought.
    package var record: TransferRecord? {
        get { boxedRecord?.content }
        set { boxedRecord = newValue.map(Box.box) }
    }
    /// The file that the episode's new version takes the place of: the server is asked whether it really changed.
    package var replacing: LocalFile? {
        get { boxedReplaced?.content }
        set { boxedReplaced = newValue.map(Box.box) }
    }
    /// What stood at ``path`` when it was decided to overwrite it: what was put or written there since is not overwritten.
    /// Nil where nobody looked.
    package var standing: FileAttributes? {
        get { boxedStanding?.content }
        set { boxedStanding = newValue.map(Box.box) }
    }
    // Few of the thousands that may wait have any of them.
    private var boxedRecord: Box<TransferRecord>?
    private var boxedReplaced: Box<LocalFile>?
    private var boxedStanding: Box<FileAttributes>?
    /// Whether a file that stands at ``path`` may be overwritten.
    package var overwrites: Bool
    /// Which way the audio is fetched, with what, and where it may be.
    package var access = SourceAccess.standard
    /// Asks the catalog for the address anew, given the one that is no longer good; nil where nobody can be asked.
    package var renewAddress: (@Sendable (ResourceAddress) async throws -> ResourceAddress?)?

    package init(
        episode: Episode, path: String, record: TransferRecord? = nil, replacing: LocalFile? = nil,
        overwrites: Bool = false
    ) {
        self.episode = episode
        self.path = path
        self.overwrites = overwrites
        self.record = record
        self.replacing = replacing
    }

    private indirect enum Box<Content: Sendable>: Sendable {
        case box(Content)

        var content: Content {
            switch self {
            case .box(let content): content
            }
        }
    }

    /// The server whose load the transfer counts for.
    var server: String { episode.address?.server ?? "" }

    /// Bytes that the transfer will probably bring; nil when nobody knows.
    var expectedBytes: Int64? {
        (record?.total ?? episode.size).map { max(0, $0 - (record?.committedLength ?? 0)) }
    }

    var promised: PromisedContent {
        PromisedContent(size: episode.size, hasDigest: episode.digest != nil)
    }
}

/// How the engine works.
package struct EngineSettings: Sendable {
    /// Episodes at once, in all and from one server.
    package var jobs: Int
    package var jobsPerHost: Int
    /// How often a transfer is tried again without progress before it is given up for this run, and after which waits.
    package var retry: RetryPolicy
    package var limits: RunLimits
    /// Bytes per second for all transfers together; 0 for no limit.
    package var limitRate: Int64
    /// Bytes per second for all transfers of a source together, by its name; a source that is not here has no limit of
    /// its own.
    package var sourceRates: [String: Int64]
    /// Bytes that stay free on the library's disk, a tenth of it at most; 0 to use it up.
    package var minFreeSpace: Int64
    /// Bytes of a file at most, where neither the server nor the catalog says how long it is.
    package var maxUndeclaredSize: Int64
    /// Bytes from which on a file is fetched in pieces, where its length is known beforehand.
    package var leastDividedLength: Int64
    /// Bytes of each piece: what one helper brings before its place is given away anew.
    package var pieceLength: Int64

    package init(
        jobs: Int = 4, jobsPerHost: Int = 4, retry: RetryPolicy = RetryPolicy(), limits: RunLimits = RunLimits(),
        limitRate: Int64 = 0, sourceRates: [String: Int64] = [:], minFreeSpace: Int64 = 0,
        maxUndeclaredSize: Int64 = 4 << 30, leastDividedLength: Int64 = 64 << 20, pieceLength: Int64 = 8 << 20
    ) {
        self.jobs = jobs
        self.jobsPerHost = jobsPerHost
        self.retry = retry
        self.limits = limits
        self.limitRate = limitRate
        self.sourceRates = sourceRates
        self.minFreeSpace = minFreeSpace
        self.maxUndeclaredSize = maxUndeclaredSize
        self.leastDividedLength = leastDividedLength
        self.pieceLength = pieceLength
    }

    /// Bytes at most of a body whose length the server does not declare.
    /// - Parameter catalogSize: what the catalog says, which may be wrong.
    func maxLength(ofUndeclared catalogSize: Int64?) -> Int64 {
        FileSize.sensible(catalogSize).map { 4 * $0 + (64 << 20) } ?? maxUndeclaredSize
    }

    /// Bytes between two durable offsets.
    static let commitInterval: Int64 = 8 << 20

    /// Bytes of a transfer between two looks at the free space.
    static let lookInterval: Int64 = 1 << 20

    /// Seconds until an episode that failed in `attempts` runs in a row is tried again; nil for "with the next run".
    ///
    /// | attempts | 1, 2 | 3 | 4 | 5 | 6 | 7 and more |
    /// | --- | --- | --- | --- | --- | --- | --- |
    /// | wait | none | 1 h | 4 h | 16 h | 64 h | 7 days |
    static func waitBetweenRuns(attempts: Int) -> Double? {
        guard attempts > 2 else { return nil }
        var hours = 1.0
        for _ in 3..<attempts where hours < 168 { hours *= 4 }
        return min(hours * 3600, TransferRecord.longestWait)
    }
}
