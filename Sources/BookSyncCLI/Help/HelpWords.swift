import ArgumentParser
import BookModel
import Foundation
import Languages

// Help texts and complaints about arguments are made before a configuration is read: for them the environment alone says
// which language is spoken.

extension Wordings {
    /// Of the language that the environment asks for.
    static let ofEnvironment = Wordings(Language(environment: ProcessInfo.processInfo.environment))
}

extension String {
    /// In the language that the environment asks for.
    static func words(_ message: Message) -> String { Wordings.ofEnvironment(message) }
}

extension ArgumentHelp {
    /// In the language that the environment asks for.
    static func words(_ message: Message, valueName: String? = nil) -> ArgumentHelp {
        ArgumentHelp(Wordings.ofEnvironment(message), valueName: valueName)
    }
}
