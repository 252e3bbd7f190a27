import BookModel
import BookSync
import Foundation

/// Takes a password from whoever runs the command: twice from the terminal, where nothing of it is seen, or one line of
/// standard input where that is no terminal.
package struct PasswordPrompt: Sendable {
    package let streams: StandardStreams

    package init(streams: StandardStreams) { self.streams = streams }

    static let minLength = 8

    /// - Throws: ``Failure`` of kind `usage` for what is no password; `CancellationError`.
    package func newPassword() async throws -> String {
        guard isatty(STDIN_FILENO) == 1 else { return try Self.checked(try await line(asking: nil)) }
        let password = try Self.checked(try await asked("Password: "))
        guard try await asked("The same again: ") == password else {
            throw Self.refusal("the two differ", "run it again")
        }
        return password
    }

    private func asked(_ question: Message) async throws -> String {
        let line = try await line(asking: streams.words(question))
        await streams.writeError("")
        return line
    }

    private func line(asking question: String?) async throws -> String {
        do {
            return try await StandardInput.line(asking: question, isSecret: true)
        } catch let failure as Failure {
            throw Self.refusal(failure.why, failure.remedy ?? "type another one")
        }
    }

    private static func checked(_ password: String) throws -> String {
        guard password.count >= minLength else {
            throw refusal("it has fewer than \(minLength) characters", "take a longer one")
        }
        guard password.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw refusal("it holds a control character", "take one that can be typed")
        }
        return password
    }

    private static func refusal(_ why: Message, _ remedy: Message) -> Failure {
        Failure(.usage, disposition: .stop, what: "the password is not taken", why: why, remedy: remedy)
    }
}
