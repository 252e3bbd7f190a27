import BookModel
import BookSync
import Foundation
import Settings

/// Asks for a run over all subscriptions, again and again: in each library that is served.
struct MirrorTimer {
    /// The first one is of the library whose last run decides when the next one begins.
    let desks: [RunQueue]
    /// Seconds between two of them.
    let interval: Double

    /// Ends when the task is cancelled.
    func work() async {
        do {
            var wait = try await firstWait()
            while true {
                let next = Date(timeIntervalSinceNow: wait)
                for desk in desks { await desk.announceMirror(at: next) }
                try await Task.sleep(for: .seconds(wait))
                for desk in desks { await desk.mirrorNow() }
                wait = interval
            }
        } catch {
            // Nothing but the end of the server ends the wait.
        }
    }

    /// Seconds until the first one: a server that is started anew does not begin from the beginning.
    private func firstWait() async throws -> Double {
        do {
            guard let library = desks.first?.configuration.library else { return 0 }
            let last = try await ShelfReader.read(library) { shelf in
                try await shelf.runs(last: 100).last { $0.record.command == "mirror" }?.record.startedAt
            }
            return Self.wait(since: last ?? nil, interval: interval, now: Date())
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // A store that cannot be read will be told of by the run itself.
            return 0
        }
    }

    /// - Parameter last: when the last one began; what lies ahead was written by a clock that was wrong.
    static func wait(since last: Date?, interval: Double, now: Date) -> Double {
        guard let last, last <= now else { return 0 }
        return max(0, interval - now.timeIntervalSince(last))
    }
}
