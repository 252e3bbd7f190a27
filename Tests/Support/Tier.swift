import Foundation
import Testing

/// How much of the suite runs: `BOOKSYNC_TESTS=quick`, which is also what holds without it, `full` or `long`.
package enum Tier: String, CaseIterable, Comparable {
    /// What protects a decision, a statement of the store, an exchange with a server or the main job. It needs the toolchain only.
    case quick
    /// All tests, those too that need installed programs or root, and those that take long. CI runs it.
    case full
    /// As full, with as many generated cases as before a release, and with what computes for minutes.
    case long

    package static let current: Tier = {
        guard let name = ProcessInfo.processInfo.environment["BOOKSYNC_TESTS"] else { return .quick }
        guard let tier = Tier(rawValue: name) else {
            fatalError("BOOKSYNC_TESTS is '\(name)'; it may be \(allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return tier
    }()

    package static func < (one: Tier, other: Tier) -> Bool {
        allCases.firstIndex(of: one)! < allCases.firstIndex(of: other)!
    }

    /// How many of its generated cases a test looks at.
    ///
    /// - Parameter quick: nil where those of `full` take no time either.
    package static func choose<Count: BinaryInteger>(quick: Count? = nil, full: Count, long: Count) -> Count {
        switch current {
        case .quick: quick ?? full
        case .full: full
        case .long: long
        }
    }

    /// Those of its cases that a test looks at: before a release all, else so many, spread over them to the last one.
    package static func choose<Case>(_ count: Int, of cases: some Collection<Case>) -> [Case] {
        let all = Array(cases)
        guard current < .long, count < all.count else { return all }
        return (1...count).map { all[$0 * all.count / count - 1] }
    }
}

extension Trait where Self == ConditionTrait {
    /// For what takes too long to be waited for.
    package static var full: Self {
        .enabled(if: Tier.current >= .full, "it takes long: BOOKSYNC_TESTS=full runs it")
    }

    /// For what computes for minutes.
    package static var long: Self {
        .enabled(if: Tier.current >= .long, "it computes for minutes: BOOKSYNC_TESTS=long runs it")
    }

    /// For a test that needs something beyond the toolchain.
    package static func needs(_ what: String, if isThere: @escaping @Sendable () async throws -> Bool) -> Self {
        .enabled("it needs \(what): BOOKSYNC_TESTS=full runs it where that is there") {
            guard Tier.current >= .full else { return false }
            return try await isThere()
        }
    }

    package static func needs(_ programs: String...) -> Self {
        needs(programs.joined(separator: ", ")) { programs.allSatisfy { ForeignProgram.path($0) != nil } }
    }

    package static func needs(python module: String) -> Self {
        needs("Python's \(module)") { await ForeignProgram.python(having: module) != nil }
    }

    package static var needsCompiler: Self { needs("a C compiler") { PreloadedLibrary.isAvailable } }

    #if os(Linux)
        package static var needsMounting: Self { needs("the right to mount a tmpfs") { SmallDisk.canBeMounted } }
    #endif
}
