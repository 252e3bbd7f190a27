import BookModel
import Foundation
import LibraryFiles
import Synchronization

/// Writes whole lines to the process's standard output and error, messages in the user's language. Names come from catalogs, from disks and from stores that
/// others wrote to: nothing in them steers the terminal.
///
/// The calls block while a pipe is full; an actor on a queue of its own, so that this never holds a thread of the
/// cooperative pool.
package actor StandardStreams {
    private let queue = SerialQueueExecutor(label: "booksync.output")

    package nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    private let language: Mutex<Wordings>

    package init(_ language: Language) {
        self.language = Mutex(Wordings(language))
    }

    /// What messages are in the user's language.
    package nonisolated var words: Wordings { language.withLock { $0 } }

    /// What is written from now on is in this language.
    package nonisolated func speak(_ language: Language) { self.language.withLock { $0 = Wordings(language) } }

    /// Whether standard output takes no more, so that more output is pointless.
    package private(set) var isOutputClosed = false
    /// Why results got lost. That their reader went away (`booksync list | head`) is no failure: it has had enough.
    package private(set) var outputFailure: Failure?

    /// A line as it is.
    package func writeOutput(_ line: String) {
        write([Self.shown(line, nil)])
    }

    /// A sentence; on a terminal it is broken between words.
    package func writeOutput(sentence: String, firstWordIn color: TerminalColor? = nil) {
        write([Self.shown(sentence, color, on: STDOUT_FILENO)])
    }

    /// Sentences, and lines that are the same in every language, which are not broken.
    package func writeOutput(_ lines: [Message]) {
        let words = words
        let columns = Self.columns(of: STDOUT_FILENO)
        write(
            lines.lazy.map { line in
                let shown = DisplayWidth.printableLines(words(line))
                return line.isVerbatim ? shown : DisplayWidth.sentences(shown, to: columns)
            })
    }

    /// The same of lines whose words have colours.
    package func writeOutput(_ lines: [ColoredText], usesColor: Bool) {
        write(lines.lazy.map { $0.shown(usesColor: usesColor) })
    }

    /// Many lines at once: one system call for some hundreds of them, where each alone would also change threads.
    private func write(_ lines: some Sequence<String>) {
        var text = ""
        for line in lines {
            text += line + "\n"
            guard text.utf8.count >= 1 << 16 else { continue }
            writeOutput(steering: text)
            text = ""
        }
        writeOutput(steering: text)
    }

    /// What steers the terminal as well.
    package func writeOutput(steering text: String) {
        guard !isOutputClosed, !text.isEmpty else { return }
        record(Self.write(text, to: STDOUT_FILENO))
    }

    /// A document as it is, without a line end of ours.
    package func writeOutput(bytes: [UInt8]) {
        guard !isOutputClosed else { return }
        record(bytes.withUnsafeBytes { Self.write($0, to: STDOUT_FILENO) })
    }

    /// - Parameter code: the number of the error that kept output from being written; nil when there was none.
    private func record(_ code: Int32?) {
        if let code {
            isOutputClosed = true
            if code != EPIPE {
                outputFailure = Failure(
                    .inputOutput, what: "the results cannot be written to standard output",
                    why: Message(errno: code),
                    remedy: "see where standard output leads, and run again")
            }
        }
    }

    /// A sentence is broken between words, and a line that is the same in every language, such as a command, is not.
    package func writeError(_ message: Message, firstWordIn color: TerminalColor? = nil) {
        let shown = Self.shown(words(message), color, on: message.isVerbatim ? nil : STDERR_FILENO)
        _ = Self.write(shown + "\n", to: STDERR_FILENO)
    }

    package func writeError(_ line: ColoredText, usesColor: Bool) {
        _ = Self.write(line.shown(usesColor: usesColor) + "\n", to: STDERR_FILENO)
    }

    /// Columns for sentences; nil where there is no terminal.
    private static func columns(of descriptor: Int32) -> Int? {
        TerminalSize.current(of: descriptor)?.columns
    }

    /// - Parameter descriptor: where a sentence goes, which is broken there.
    private static func shown(_ line: String, _ color: TerminalColor?, on descriptor: Int32? = nil) -> String {
        let line = DisplayWidth.sentences(DisplayWidth.printableLines(line), to: descriptor.flatMap(columns))
        return color?.applied(toFirstWordOf: line) ?? line
    }

    /// - Returns: the number of the error that kept the text from being written whole; nil when there was none.
    @discardableResult
    package nonisolated static func write(_ text: String, to descriptor: Int32) -> Int32? {
        TerminalEncoding.bytes(text, for: descriptor).withUnsafeBytes { write($0, to: descriptor) }
    }

    /// The same of bytes; blocks. Another process that shares the pipe or terminal may have made it non-blocking: then it
    /// waits until there is room again.
    package nonisolated static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                var waited = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&waited, 1, -1)
                continue
            }
            guard count > 0 else { return count == 0 ? EIO : errno }
            rest = rest.dropFirst(count)
        }
        return nil
    }
}
