import BookModel
import BookSync
import Foundation
import LibraryFiles
import Synchronization

/// Reads lines that somebody types, or that a script hands over.
package enum StandardInput {
    /// Bytes of a line.
    private static let maxLength = 1024

    /// Whether somebody sits at a terminal, and sees what is asked.
    package static var isInteractive: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// Asks whether something may be done that is not easily undone.
    ///
    /// - Parameters:
    ///   - question: `Delete 2 files for good?`
    ///   - what: what is not done without an answer, for where nobody can be asked.
    /// - Throws: ``Failure`` of kind `usage` where there is no terminal.
    package static func confirms(
        _ question: Message, what: Message, remedy: Message, in words: Wordings
    ) async throws -> Bool {
        guard isInteractive else {
            throw Failure(
                .usage, disposition: .stop, what: "\(what) without being asked for twice",
                why: "there is no terminal to ask on", remedy: remedy)
        }
        return ["y", "yes"].contains(try await line(asking: words(question) + " [y/N] ").lowercased())
    }

    /// A line, without its end. A signal ends the wait, and the terminal is left as it was.
    ///
    /// - Parameters:
    ///   - question: for the terminal; nil where there is none.
    ///   - isSecret: whether the terminal shows nothing of the answer.
    /// - Throws: ``Failure`` of kind `usage` for what is no line of text; `CancellationError`.
    package static func line(asking question: String?, isSecret: Bool = false) async throws -> String {
        let isCancelled = Atomic(false)
        return try await withTaskCancellationHandler {
            try await runBlocking {
                try readLine(asking: question, isSecret: isSecret) { isCancelled.load(ordering: .relaxed) }
            }
        } onCancel: {
            isCancelled.store(true, ordering: .relaxed)
        }
    }

    private static func readLine(asking question: String?, isSecret: Bool, until isOver: () -> Bool) throws -> String {
        var before = termios()
        let isTerminal = question != nil && tcgetattr(STDIN_FILENO, &before) == 0
        if isTerminal {
            var changed = before
            if isSecret { changed.c_lflag &= ~tcflag_t(ECHO) }
            // What was typed before the question is no answer to it.
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &changed)
        }
        // Asked only now: nothing of the answer is shown, and none of it lost.
        if let question {
            var text = question
            _ = text.withUTF8 { StandardStreams.write(UnsafeRawBufferPointer($0), to: STDERR_FILENO) }
        }
        defer { if isTerminal { tcsetattr(STDIN_FILENO, TCSANOW, &before) } }
        var bytes: [UInt8] = []
        while bytes.last != UInt8(ascii: "\n"), bytes.count <= maxLength {
            if isOver() { throw CancellationError() }
            // The read itself would not notice a signal that another thread takes.
            var waited = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard poll(&waited, 1, 100) > 0 else { continue }
            var byte: UInt8 = 0
            let count = read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { break }
            bytes.append(byte)
        }
        guard bytes.count <= maxLength else {
            throw refusal("it is longer than a kilobyte", "make it shorter")
        }
        while let last = bytes.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw refusal("it is not UTF-8 text", "type it in a UTF-8 terminal")
        }
        return text
    }

    private static func refusal(_ why: Message, _ remedy: Message) -> Failure {
        Failure(.usage, disposition: .stop, what: "the line on standard input is not taken", why: why, remedy: remedy)
    }
}
