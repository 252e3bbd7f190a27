import BookModel
import BookSync
import Foundation

extension StandardStreams {
    /// Takes a password from whoever runs the command: twice from the terminal, where nothing of it is seen, or one line of
    /// standard input where that is no terminal.
    /// - Throws: ``Failure`` of kind `usage` for what is no password; `CancellationError`.
    nonisolated func newPassword() async throws -> String {
        guard isatty(STDIN_FILENO) == 1 else { return try checkedPassword(try await line(asking: nil)) }
        let password = try checkedPassword(try await asked("Password: "))
        guard try await asked("The same again: ") == password else {
            throw refusal("the two differ", "run it again")
        }
        return password
    }

    private nonisolated func asked(_ question: Message) async throws -> String {
        let line = try await line(asking: words(question))
        await writeError("")
        return line
    }

    private nonisolated func line(asking question: String?) async throws -> String {
        do {
            return try await StandardInput.line(asking: question, isSecret: true)
        } catch let failure as Failure {
            throw refusal(failure.why, failure.remedy ?? "type another one")
        }
    }
}

private let minLength = 8

private func checkedPassword(_ password: String) throws -> String {
    guard password.count >= minLength else {
        throw refusal("it has fewer than \(minLength) characters", "take a longer one")
    }
    guard password.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
        throw refusal("it holds a control character", "take one that can be typed")
    }
    return password
}

private func refusal(_ why: Message, _ remedy: Message) -> Failure {
    Failure(.usage, disposition: .stop, what: "the password is not taken", why: why, remedy: remedy)
}
