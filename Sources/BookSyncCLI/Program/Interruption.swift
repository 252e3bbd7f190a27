import Dispatch
import Foundation
import Synchronization

/// Listens for SIGINT, SIGTERM and SIGHUP: the first one cancels the work, so that everything received is kept and
/// recorded; a second one quits at once, which loses no more than a kill does, namely nothing that was written.
final class Interruption: Sendable {
    private let received = Mutex<Int32?>(nil)
    private let numbers: [Int32]

    /// To be made first of all: until then a signal ends the process in the system's own way.
    init() {
        // A parent that blocks signals (the threads of Swift's own pool do) hands that on to its children.
        var mask = sigset_t()
        sigemptyset(&mask)
        // Whoever starts a process with a signal ignored (`nohup`, a shell's background job) wants it to stay that way.
        numbers = [SIGINT, SIGTERM, SIGHUP].filter { number in
            guard let previous = signal(number, SIG_DFL) else { return true }
            signal(number, previous)
            return unsafeBitCast(previous, to: Int.self) != unsafeBitCast(SIG_IGN, to: Int.self)
        }
        for number in numbers { sigaddset(&mask, number) }
        pthread_sigmask(SIG_UNBLOCK, &mask, nil)
    }

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
        let registered = DispatchGroup()
        for _ in numbers { registered.enter() }
        let queue = DispatchQueue(label: "booksync.signals")
        let task = Task {
            // A server that says where it is can be told to end.
            await withCheckedContinuation { continuation in registered.notify(queue: queue) { continuation.resume() } }
            return await work()
        }
        let sources = numbers.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                let isFirst = self.received.withLock { received in
                    defer { received = received ?? number }
                    return received == nil
                }
                if isFirst { task.cancel() } else { _exit(128 + number) }
            }
            source.setRegistrationHandler { registered.leave() }
            source.resume()
            return source
        }
        let result = await task.value
        for source in sources { source.cancel() }
        return result
    }
}
