import BookModel
import Testing

@testable import BookSyncCLI

@Suite struct ExitStatusTests {
    @Test func `each kind of failure has the contract's code`() {
        let codes: [Failure.Kind: Int32] = [
            .usage: 64, .configuration: 78, .unknownBook: 66, .unreadableCatalog: 65, .catalogUnavailable: 69,
            .credentialsRejected: 77, .libraryUnwritable: 73, .inputOutput: 74, .temporary: 75, .defect: 70,
        ]
        for kind in Failure.Kind.allCases { #expect(ExitStatus(kind).rawValue == codes[kind]) }
    }

    @Test func `of several the one that most needs a person wins`() {
        let order: [Failure.Kind] = [
            .configuration, .credentialsRejected, .libraryUnwritable, .inputOutput, .unreadableCatalog, .unknownBook,
            .catalogUnavailable, .temporary,
        ]
        #expect(ExitStatus(of: []) == .done)
        for (index, kind) in order.enumerated() {
            let failures = order[index...].reversed().map { Failure($0, what: "it", why: "so") }
            #expect(ExitStatus(of: failures) == ExitStatus(kind))
        }
    }
}
