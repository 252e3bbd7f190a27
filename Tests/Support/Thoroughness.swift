import Foundation

/// How many of its generated cases a test looks at: few where it runs with all others, many before a release
/// (`BOOKSYNC_THOROUGH=1`).
package enum Thoroughness {
    private static let isThorough = ProcessInfo.processInfo.environment["BOOKSYNC_THOROUGH"] == "1"

    package static func choose<Count: BinaryInteger>(_ few: Count, orMany many: Count) -> Count {
        isThorough ? many : few
    }
}
