import Foundation
import Testing

/// How long each test or case took in its slot, a line each in the file that `BOOKSYNC_TEST_TIMES` names. What the runner prints
/// has the time in it that a test waited for its slot.
final class TestTimes: Sendable {
    static let shared = ProcessInfo.processInfo.environment["BOOKSYNC_TEST_TIMES"].flatMap(TestTimes.init)

    private let file: Int32

    private init?(path: String) {
        file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard file >= 0 else { return nil }
    }

    func record(_ test: Test, _ time: Duration) {
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        let place = test.sourceLocation
        let line = String(format: "%.3f\t%@:%d\t%@\n", seconds, place.fileID, place.line, test.displayName ?? test.name)
        // One write, so that lines of several processes do not mix.
        _ = line.withCString { write(file, $0, strlen($0)) }
    }
}
