/// Which episodes of a book stay on disk: the newest ones, young ones, unheard ones, as many bytes as fit. What stays by none
/// of them expires: its file goes to the trash, and it is not fetched again.
package struct KeepRule: Sendable, Hashable {
    /// So many episodes with the highest numbers.
    package var latest: Int?
    /// What was published, or came to disk, in the last so many seconds.
    package var age: Double?
    /// What nobody has heard to its end.
    package var isUnheard = false
    /// The newest episodes, as long as they have no more bytes together. Unheard ones stay all the same where they are to.
    package var maxBytes: Int64?

    /// The newest files of a book that stay whatever the rule says: a rule, or a clock, that is wrong does not empty a shelf.
    package static let minFiles = 3

    package init(maxBytes: Int64? = nil) { self.maxBytes = maxBytes }

    /// - Parameter text: `last 20`, `30d` (or `4w`, `12h`), `unheard`, or several of them with commas between.
    /// - Throws: ``Failure`` of kind `usage`.
    package init(parsing text: String, maxBytes: Int64? = nil) throws {
        self.maxBytes = maxBytes
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let words = part.split(separator: " ")
            if words.count == 2, words[0] == "last", let count = Int(words[1]), count > 0 {
                latest = count
            } else if words == ["unheard"] {
                isUnheard = true
            } else if words.count == 1, let seconds = parseAge(String(words[0])) {
                age = seconds
                ageText = String(words[0])
            } else {
                throw Failure(
                    .usage, disposition: .stop, what: "'\(text)' does not say what to keep",
                    why: "'\(part)' is none of last 20, 30d and unheard",
                    remedy: "write for example last 20, or last 20, unheard to keep what either of them keeps")
            }
        }
    }

    /// - Parameters: as ``text`` and ``maxBytes`` of a rule; nil for what it does not say.
    /// - Returns: nil where both are nil, which is no rule.
    package init?(storedText text: String?, maxBytes: Int64?) throws {
        guard text != nil || maxBytes != nil else { return nil }
        self = try text.map { try KeepRule(parsing: $0, maxBytes: maxBytes) } ?? KeepRule(maxBytes: maxBytes)
    }

    private var ageText: String?

    /// As it is written for ``init(parsing:maxBytes:)``; nil where it says nothing but how many bytes.
    package var text: String? {
        let parts = [latest.map { "last \($0)" }, ageText, isUnheard ? "unheard" : nil].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}

extension KeepRule: CustomStringConvertible {
    /// `keep: last 20, max-size: 5.0 GB`.
    package var description: String {
        [text.map { "keep: \($0)" }, maxBytes.map { "max-size: \(describeBytes($0))" }].compactMap(\.self)
            .joined(separator: ", ")
    }
}
