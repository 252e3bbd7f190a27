import Foundation

/// Writes whole lines to the process's standard output and error.
///
/// The calls block while a pipe is full; an actor on a queue of its own, so that this never holds a thread of the
/// cooperative pool.
actor StandardStreams {
    private let queue = DispatchSerialQueueExecutor(label: "booksync.output")

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    /// Whether the reader of standard output went away, so that more output is pointless.
    private(set) var isOutputClosed = false

    func writeOutput(_ line: String) {
        guard !isOutputClosed else { return }
        isOutputClosed = !Self.write(line + "\n", to: STDOUT_FILENO)
    }

    /// Many lines at once: one system call for some hundreds of them, where each alone would also change threads.
    func writeOutput(_ lines: [String]) {
        var text = ""
        for line in lines {
            text += line + "\n"
            if text.utf8.count >= 1 << 16 { flush(&text) }
        }
        flush(&text)
    }

    private func flush(_ text: inout String) {
        guard !isOutputClosed, !text.isEmpty else { return }
        isOutputClosed = !Self.write(text, to: STDOUT_FILENO)
        text = ""
    }

    func writeError(_ line: String) {
        _ = Self.write(line + "\n", to: STDERR_FILENO)
    }

    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)[...]
            while !rest.isEmpty {
                let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }
}
