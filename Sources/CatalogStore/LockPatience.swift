import BookModel
import Foundation
import GRDB
import Synchronization

/// How long the connections of one opened store wait for the locks of other processes: 10 s, once.
///
/// A run makes thousands of transactions. If each of them waited for a lock that nobody gives up, the run would hang for hours;
/// so after one wait in vain the next ones try once and fail, until a write succeeds again.
final class LockPatience: Sendable {
    private enum State {
        case patient
        /// A wait was in vain (`SQLITE_BUSY`).
        case exhausted
        /// SQLite itself waited 10 s for the lock of a reader, which it does each time anew (`SQLITE_PROTOCOL`).
        case broken
    }

    private let state = Mutex(State.patient)

    /// What SQLite's own busy handler waits between tries, in milliseconds.
    private static let delays: [UInt32] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50]
    /// Of the tries after those.
    private static let longDelay: UInt32 = 100
    /// Milliseconds that all tries of a statement wait together.
    private static let longest: UInt32 = 10_000

    /// Waits before a statement tries again for a lock, on the database's own thread.
    /// - Returns: false where it is to fail instead (sqlite3_busy_handler).
    func waits(afterTries count: Int) -> Bool {
        let waited = Self.delays.prefix(count).reduce(0, +) + UInt32(max(0, count - Self.delays.count)) * Self.longDelay
        let mayWait = state.withLock { state in
            if waited >= Self.longest { state = .exhausted }
            return state == .patient
        }
        if mayWait { usleep((count < Self.delays.count ? Self.delays[count] : Self.longDelay) * 1000) }
        return mayWait
    }

    /// Learns from what a read fails with.
    func watching<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_PROTOCOL {
            state.withLock { $0 = .broken }
            throw error
        }
    }

    /// The same of a write, which shows that locks can be had again.
    func watchingWrite<Value>(_ body: () throws -> Value) throws -> Value {
        let value = try watching(body)
        state.withLock { $0 = .patient }
        return value
    }

    /// - Throws: ``Failure`` where locks cannot be had, and trying would wait again.
    func requireLocks(_ what: Message, at path: String) throws {
        guard state.withLock({ $0 == .broken }) else { return }
        try failing(what, at: path) { throw DatabaseError(resultCode: .SQLITE_PROTOCOL, message: "locking protocol") }
    }
}
