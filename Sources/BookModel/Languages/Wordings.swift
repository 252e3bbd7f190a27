import Foundation

/// What messages are in one language.
package struct Wordings: Sendable {
    package let language: Language
    private let table: [String: String]

    package init(_ language: Language) {
        self.language = language
        table =
            switch language {
            case .english: [:]
            case .chinese: Translation.chinese.messages
            }
    }

    /// English where the language's table lacks the message's wording. Times are those of the user's zone.
    package func callAsFunction(_ message: Message) -> String {
        message.text(by: table, in: .current)
    }

    /// Whether what is made of a message is English beside another language.
    package func isForeign(_ message: Message) -> Bool {
        language != .english && !message.isTranslated(by: table)
    }
}
