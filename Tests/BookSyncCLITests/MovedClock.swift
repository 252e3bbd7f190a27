import Foundation
import Support

/// A clock that the test moves while programs run by it: the time of day, and the time since the machine began, as if it had
/// gone on. What waits for a time that has come meanwhile is not woken earlier, as on a machine that slept.
struct MovedClock: Sendable {
    private let library: URL
    private let file: URL

    static func make(in folder: URL) async throws -> MovedClock {
        let file = folder.appending(path: "clock")
        let clock = MovedClock(library: try await PreloadedLibrary.make("clock", in: folder), file: file)
        try clock.move(to: 0)
        return clock
    }

    /// For programs that go by it.
    var environment: [String: String] { ["LD_PRELOAD": library.path, "CLOCK": file.path] }

    /// - Parameter hours: ahead of the real time; only ever more.
    func move(to hours: Double) throws {
        // In place: programs have the file open.
        var seconds = Int64(hours * 3600)
        let bytes = withUnsafeBytes(of: &seconds) { Data($0) }
        guard FileManager.default.fileExists(atPath: file.path) else { return try bytes.write(to: file) }
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: bytes)
        try handle.close()
    }
}
