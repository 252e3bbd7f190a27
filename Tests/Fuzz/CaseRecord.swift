import Dispatch
import Foundation
import Synchronization

/// The input that is being read, in a file that outlives a crash.
final class CaseRecord: Sendable {
    let path: String
    private let descriptor: CInt
    private let folder: String
    private let name: String
    /// The input's number; what reads it may be stopped by nothing but a look from outside.
    private let number = Atomic<Int>(-1)

    /// - Throws: what the system says when the file cannot be made.
    init(reader: FuzzedReader, seed: UInt64, folder: String) throws {
        self.folder = folder
        name = "booksync-fuzz-\(reader)-\(seed)"
        path = URL(filePath: folder).appending(path: "\(name)-current").path
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: path]) }
    }

    deinit { close(descriptor) }

    var current: Int { number.load(ordering: .relaxed) }

    /// Writes the input before it is read.
    func begin(_ input: [UInt8], number: Int) throws {
        self.number.store(number, ordering: .relaxed)
        guard ftruncate(descriptor, off_t(input.count)) == 0,
            input.isEmpty || pwrite(descriptor, input, input.count, 0) == input.count
        else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: path]) }
    }

    /// - Returns: the path of the copy.
    func keep(_ input: [UInt8]) throws -> String {
        let copy = URL(filePath: folder).appending(path: "\(name)-\(current)")
        try Data(input).write(to: copy)
        return copy.path
    }

    func remove() { unlink(path) }
}

/// Ends the program when an input is read for more than five seconds.
struct Watchdog {
    private static let patience = 5
    private let timer: any DispatchSourceTimer

    init(record: CaseRecord) {
        timer = DispatchSource.makeTimerSource(queue: .global(qos: .userInteractive))
        let seen = Mutex((number: -1, seconds: 0))
        timer.schedule(deadline: .now() + 1, repeating: 1)
        timer.setEventHandler {
            let current = record.current
            let seconds = seen.withLock { seen in
                seen = seen.number == current ? (current, seen.seconds + 1) : (current, 0)
                return seen.seconds
            }
            guard seconds >= Self.patience else { return }
            say("input \(current) is read for more than \(Self.patience) seconds: \(record.path)")
            _exit(3)
        }
        timer.resume()
    }

    func cancel() { timer.cancel() }
}
