import Synchronization

/// Lets so much of a server's answers through, and more when the test says so: a transfer that is neither over before a
/// slow test has looked at it, nor waited for by a quick one.
package final class Tap: Sendable, CustomStringConvertible {
    private let bytes: Atomic<Int>

    /// - Parameter bytes: of each answer's body.
    package init(allowing bytes: Int) {
        self.bytes = Atomic(bytes)
    }

    /// How many bytes of each answer's body may go out.
    package var allowed: Int { bytes.load(ordering: .acquiring) }

    /// Lets more of each answer through, those under way included.
    package func allow(_ bytes: Int) {
        self.bytes.store(bytes, ordering: .releasing)
    }

    /// Lets everything through, now and later.
    package func open() { allow(.max) }

    package var description: String { "tap at \(allowed) bytes" }
}
