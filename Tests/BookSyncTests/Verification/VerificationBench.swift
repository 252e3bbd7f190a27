import BookModel
import CatalogStore
import Foundation
import Logging
import Support
import Testing

@testable import BookSync
@testable import LibraryFiles

extension RunBench {
    /// One verification as `verify` makes it.
    func verify(
        _ scope: TransferControl.Scope = .everything, quick: Bool = false, anew: Bool = false,
        onEvent: @escaping @Sendable (SyncEvent) -> Void = { _ in }
    ) async throws -> VerificationReport {
        try await LibraryVerification(library: library, emit: onEvent)
            .check(VerificationRequest(scope: scope, isQuick: quick, startsAnew: anew))
    }

    /// One verification with the repair of what is bad.
    func verifyAndRepair(quick: Bool = false) async throws -> VerificationReport {
        let report = try await verify(quick: quick)
        return try await repair(report)
    }

    func repair(_ report: VerificationReport) async throws -> VerificationReport {
        try await LibrarySession.withLibrary(at: library, command: "test") {
            try await report.repaired(
                in: $0, configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, emit: { _ in })
        }
    }

    /// Absolute path of an episode's file; it must be recorded.
    func path(_ section: Int) async throws -> String { try await recordedPath(section) ?? "" }

    /// What the trash holds, by path.
    func trashed() async throws -> [String: [UInt8]] {
        let paths = try await Trash.list(in: library).map(\.to)
        return Dictionary(uniqueKeysWithValues: try paths.map { ($0, try read(library + "/" + $0)) })
    }

    /// Has the store believe that the episode's file was fetched only now, after all that was done to it: as if a disk
    /// had rotted, which leaves no times behind.
    func forgetThatItWasTouched(_ section: Int) async throws { try await setFetched(section, at: Date() + 10) }

    /// Records that the episode was fetched at that time.
    func setFetched(_ section: Int, at time: Date) async throws {
        var file = try #require(try await shelved(section)?.file)
        file.fetchedAt = time
        let changed = file
        try await withStore { try await $0.updateFiles([changed]) }
    }
}

extension VerificationReport {
    /// `2 bit_rot`, one for each bad file.
    var outline: [String] { bad.map { "\($0.section) \($0.verdict.keyword)" } }
}
