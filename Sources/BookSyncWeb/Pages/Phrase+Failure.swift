import BookModel
import BookSync

// What a failure says of itself is English. What kind of failure it is, and what was looked at, is said in the reader's
// language.

extension Phrase {
    /// The kind of a failure, as a heading.
    init(_ kind: Failure.Kind) {
        self =
            switch kind {
            case .usage: .failureUsage
            case .configuration: .failureConfiguration
            case .unknownBook: .failureUnknownBook
            case .unreadableCatalog: .failureUnreadableCatalog
            case .catalogUnavailable: .failureCatalogUnavailable
            case .credentialsRejected: .failureCredentialsRejected
            case .libraryUnwritable: .failureLibraryUnwritable
            case .inputOutput: .failureInputOutput
            case .temporary: .failureTemporary
            case .defect: .failureDefect
            }
    }

    /// With the words of ``Failure/Kind``, as the script meets them in the API's answers.
    static let failures = Failure.Kind.allCases.map { (keyword: $0.keyword, phrase: Phrase($0)) }

    private static let checks: [String: Phrase] = [
        "configuration": .checkConfiguration, "library": .checkLibrary, "store": .checkStore, "lock": .checkLock,
        "locking": .checkLocking, "renaming": .checkRenaming, "disk": .checkDisk, "space": .checkSpace,
        "leftovers": .checkLeftovers,
        "sources": .checkSources, "subscriptions": .checkSubscriptions,
    ]

    /// What was looked at; nil when it has no word of ours, as a source's name has none.
    static func check(_ word: String) -> Phrase? { checks[word] }
}
