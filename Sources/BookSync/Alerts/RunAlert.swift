import BookModel
import Foundation
import Logging
import Settings
import Transport

/// Tells of a run outside of it: a command of the user's gets the document on its standard input, an address gets it
/// by POST. Neither can fail the run, hold it up for longer than a minute or two, or outlive it.
extension NotifySettings {
    /// Whether anybody is to be told anything.
    var hasReader: Bool { exec != nil || webhook != nil }

    /// - Returns: whether one of those to be told was, and what the user should know of it, in sentences.
    func deliver(
        _ document: JSONDocument, proxies: ProxyEnvironment
    ) async -> (isDelivered: Bool, notices: [Message]) {
        let text = document.text() + "\n"
        var outcomes: [AlertOutcome] = []
        if let command = exec { outcomes.append(await AlertCommand(command: command).run(text)) }
        if let address = webhook {
            outcomes.append(await AlertWebhook(address: address, proxies: proxies).post(text))
        }
        return (outcomes.contains(where: \.isDelivered), outcomes.compactMap(\.notice))
    }
}

/// What came of telling one of them.
struct AlertOutcome: Sendable {
    var isDelivered: Bool
    var notice: Message?
}
