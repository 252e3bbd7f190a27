import BookModel

/// What the process exits with: sysexits where they fit, as the command line's contract lists them.
enum ExitStatus: Int32, Sendable, CaseIterable {
    case done = 0
    case usage = 64
    case unreadableCatalog = 65
    case unknownBook = 66
    case catalogUnavailable = 69
    case defect = 70
    case libraryUnwritable = 73
    case inputOutput = 74
    case temporary = 75
    case credentialsRejected = 77
    case configuration = 78
    case hangUp = 129
    case interrupted = 130
    case terminated = 143

    init(_ kind: Failure.Kind) {
        self =
            switch kind {
            case .usage: .usage
            case .configuration: .configuration
            case .unknownBook: .unknownBook
            case .unreadableCatalog: .unreadableCatalog
            case .catalogUnavailable: .catalogUnavailable
            case .credentialsRejected: .credentialsRejected
            case .libraryUnwritable: .libraryUnwritable
            case .inputOutput: .inputOutput
            case .temporary: .temporary
            case .defect: .defect
            }
    }

    /// When several apply, the one that most needs a person.
    private static let byUrgency: [ExitStatus] = [
        .defect, .usage, .configuration, .credentialsRejected, .libraryUnwritable, .inputOutput, .unreadableCatalog,
        .unknownBook, .catalogUnavailable, .temporary,
    ]

    init(of failures: [Failure]) {
        self.init(kinds: failures.map(\.kind))
    }

    init(kinds: [Failure.Kind]) { self.init(worstOf: kinds.map { ExitStatus($0) }) }

    init(worstOf statuses: [ExitStatus]) {
        let interruption = statuses.first { $0.rawValue > 128 }
        self = interruption ?? Self.byUrgency.first(where: statuses.contains) ?? .done
    }
}
