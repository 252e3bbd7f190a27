import BookModel
import BookSync
import Foundation
import Synchronization

/// Takes a password from whoever runs the command: twice from the terminal, where nothing of it is seen, or one line of
/// standard input where that is no terminal.
struct PasswordPrompt: Sendable {
    let streams: StandardStreams

    static let leastLength = 8
    /// Bytes of a line.
    private static let greatestLength = 1024

    /// - Throws: ``Failure`` of kind `usage` for what is no password; `CancellationError`.
    func newPassword() async throws -> String {
        guard isatty(STDIN_FILENO) == 1 else { return try Self.checked(try await line(asking: nil)) }
        let password = try Self.checked(try await asked("Password: "))
        guard try await asked("The same again: ") == password else {
            throw Self.refusal("the two differ", "run it again")
        }
        return password
    }

    private func asked(_ question: String) async throws -> String {
        let line = try await line(asking: question)
        await streams.writeError("")
        return line
    }

    private static func checked(_ password: String) throws -> String {
        guard password.count >= leastLength else {
            throw refusal("it has fewer than \(leastLength) characters", "take a longer one")
        }
        guard password.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw refusal("it holds a control character", "take one that can be typed")
        }
        return password
    }

    private static func refusal(_ why: String, _ remedy: String) -> Failure {
        Failure(.usage, disposition: .stop, what: "the password is not taken", why: why, remedy: remedy)
    }

    // MARK: Reading

    /// A line, without its end. A signal ends the wait, and the terminal is left as it was.
    /// - Parameter question: for the terminal, which then shows nothing of the answer; nil where there is none.
    private func line(asking question: String?) async throws -> String {
        let flag = Flag()
        return try await withTaskCancellationHandler {
            try await offPool { try Self.readLine(asking: question, until: flag) }
        } onCancel: {
            flag.raise()
        }
    }

    private final class Flag: Sendable {
        private let isRaised = Mutex(false)
        var value: Bool { isRaised.withLock { $0 } }
        func raise() { isRaised.withLock { $0 = true } }
    }

    private static func readLine(asking question: String?, until flag: Flag) throws -> String {
        var before = termios()
        let isTerminal = question != nil && tcgetattr(STDIN_FILENO, &before) == 0
        if isTerminal {
            var silent = before
            silent.c_lflag &= ~tcflag_t(ECHO)
            // What was typed before the question is no answer to it.
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        }
        // Asked only now: nothing of the answer is shown, and none of it lost.
        if let question {
            var text = question
            _ = text.withUTF8 { StandardStreams.write(UnsafeRawBufferPointer($0), to: STDERR_FILENO) }
        }
        defer { if isTerminal { tcsetattr(STDIN_FILENO, TCSANOW, &before) } }
        var bytes: [UInt8] = []
        while bytes.last != UInt8(ascii: "\n"), bytes.count <= greatestLength {
            if flag.value { throw CancellationError() }
            // The read itself would not notice a signal that another thread takes.
            var waited = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard poll(&waited, 1, 100) > 0 else { continue }
            var byte: UInt8 = 0
            let count = read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { break }
            bytes.append(byte)
        }
        guard bytes.count <= greatestLength else { throw refusal("it is longer than a kilobyte", "take a shorter one") }
        while let last = bytes.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw refusal("it is no UTF-8 text", "take one that can be typed")
        }
        return text
    }
}
