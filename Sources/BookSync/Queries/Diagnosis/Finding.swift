import BookModel

/// What `doctor` found of one thing that it looked at.
package struct Finding: Sendable, Hashable {
    package enum Status: String, Sendable, CaseIterable {
        case ok
        /// Nothing fails because of it now.
        case warning
        /// A run would fail, or something is broken.
        case problem
    }

    /// The thing: "library", "source kting".
    package var check: Message
    package var status: Status
    /// What was found, in words for the user; without secrets.
    package var message: Message
    /// What to do about it; nil when there is nothing to be done.
    package var remedy: Message?
    /// What a run that meets the problem would end with; nil for what is none.
    package var kind: Failure.Kind?

    package static func ok(_ check: Message, _ message: Message) -> Finding {
        Finding(check: check, status: .ok, message: message)
    }

    static func warning(_ check: Message, _ message: Message, remedy: Message?) -> Finding {
        Finding(check: check, status: .warning, message: message, remedy: remedy)
    }

    static func problem(_ check: Message, _ failure: Failure) -> Finding {
        Finding(
            check: check, status: .problem, message: "\(failure.what): \(failure.why)", remedy: failure.remedy,
            kind: failure.kind)
    }

    /// What came of work that throws when there is a problem.
    static func of(_ check: Message, _ work: () async throws -> Finding) async throws -> Finding {
        do {
            return try await work()
        } catch let failure as Failure {
            return .problem(check, failure)
        }
    }
}

extension Failure {
    /// A configuration that cannot be read, as a finding: nothing else can be looked at then.
    package var asFinding: Finding { .problem("configuration", self) }
}

extension JSONDocument {
    package init(_ finding: Finding) {
        self = [
            "check": .string(finding.check.description),
            "status": .string(finding.status.rawValue),
            "message": .init(finding.message),
            "remedy": .init(finding.remedy),
        ]
    }
}
