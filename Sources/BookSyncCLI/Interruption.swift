import Dispatch
import Foundation
import Synchronization

/// Listens for SIGINT, SIGTERM and SIGHUP: the first one cancels the work, so that everything received is kept and
/// recorded; a second one quits at once, which loses no more than a kill does, namely nothing that was written.
final class Interruption: Sendable {
    private let received = Mutex<Int32?>(nil)

    /// What the process exits with when it was interrupted; nil when it was not.
    var exitStatus: ExitStatus? {
        switch received.withLock({ $0 }) {
        case SIGINT: .interrupted
        case SIGTERM: .terminated
        case SIGHUP: .hangUp
        default: nil
        }
    }

    /// Runs `work` so that a signal cancels it.
    func cancelling<Result: Sendable>(_ work: @escaping @Sendable () async -> Result) async -> Result {
        let task = Task { await work() }
        let queue = DispatchQueue(label: "booksync.signals")
        let sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                let isFirst = self.received.withLock { received in
                    defer { received = received ?? number }
                    return received == nil
                }
                if isFirst { task.cancel() } else { _exit(128 + number) }
            }
            source.resume()
            return source
        }
        let result = await task.value
        for source in sources { source.cancel() }
        return result
    }
}
