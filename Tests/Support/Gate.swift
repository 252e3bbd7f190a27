import Synchronization

/// Holds a server's answer back until the test opens it.
package final class Gate: Sendable, CustomStringConvertible {
    private let opened = Atomic(false)

    package init() {}

    package var isOpen: Bool { opened.load(ordering: .acquiring) }

    /// Lets everything through that waits here, now and later.
    package func open() {
        opened.store(true, ordering: .releasing)
    }

    package var description: String { isOpen ? "open gate" : "closed gate" }
}
