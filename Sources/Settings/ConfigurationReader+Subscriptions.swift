import BookModel
import CatalogFetcher
import LibraryFiles

extension ConfigurationReader {
    static let subscriptionKeys = [
        "book", "title", "latest", "only", "match", "exclude", "since", "order", "max-episodes", "max-bytes", "naming",
        "keep", "max-size", "language", "min-hours", "max-books", "library", "headers", "user-agent",
        "on-catalog-change",
    ]

    /// - Parameter keyPath: of the subscription: `subscriptions[0]`.
    func readSubscription(_ item: SettingNode, at keyPath: String) throws -> SubscriptionSetting {
        let entries = try map(item, of: "subscriptions")
        guard let book = entries.first(where: { $0.key == "book" }) else {
            throw refusal(item.line, "subscriptions", expected: "a 'book' in every item")
        }
        let reference = try parsed(book) { try BookReference(parsing: $0) }
        if case .address(let address) = reference.target,
            !FeedSettings.isWholeAddress(FeedSettings.bookID(of: address))
        {
            recordSecret(try text(book), "\(keyPath).book", line: book.line)
        }
        var subscription = SubscriptionSetting(reference: reference, filter: reference.filter)
        for entry in entries {
            try findings.attempt { try read(entry, at: keyPath, into: &subscription) }
        }
        return subscription
    }

    private func read(
        _ entry: SettingNode.Entry, at keyPath: String, into subscription: inout SubscriptionSetting
    ) throws {
        record("\(keyPath).\(entry.key)", line: entry.line)
        switch entry.key {
        case "book": break
        case "title":
            let title = try expanded(try text(entry), line: entry.line)
            subscription.title = title.isEmpty ? nil : title
        case "latest":
            subscription.filter.latest = try readCount(entry)
        case "only": subscription.filter.only = try parsed(entry) { try SectionRanges(parsing: $0) }
        case "match": subscription.filter.match = try readPattern(entry)
        case "exclude": subscription.filter.exclude = try readPattern(entry)
        case "since": subscription.filter.since = try parsed(entry) { try PublicationStart(parsing: $0) }
        case "order": subscription.order = try readChoice(entry)
        case "on-catalog-change": subscription.onCatalogChange = try readChoice(entry)
        case "headers", "user-agent": subscription.headers += try readHeaders(entry, in: keyPath)
        case "max-episodes": subscription.limits.episodes = try readCount(entry)
        case "max-bytes": subscription.limits.bytes = try readBytes(entry)
        case "naming": subscription.naming = try readNaming(entry)
        case "keep", "max-size": try readKeep(entry, into: &subscription.keep)
        case "language": subscription.collection.language = try readLanguage(entry)
        case "min-hours": subscription.collection.minHours = try readHours(entry)
        case "max-books": subscription.collection.maxBooks = try readCount(entry)
        case "library":
            let name = try expanded(try text(entry), line: entry.line)
            subscription.library = name.isEmpty ? nil : name
        default: throw unknown(entry, in: "subscriptions")
        }
    }

    private func readCount(_ entry: SettingNode.Entry) throws -> Int {
        try value(of: entry, expected: "a whole number from 1 on") { Int($0).flatMap { $0 > 0 ? $0 : nil } }
    }

    private func readLanguage(_ entry: SettingNode.Entry) throws -> String {
        try value(of: entry, expected: "a language such as zh or Chinese") { CatalogText.languageAlone($0) }
    }

    private func readHours(_ entry: SettingNode.Entry) throws -> Double {
        try value(of: entry, expected: "hours such as 2 or 0.5") {
            Double($0).flatMap { $0 > 0 && $0.isFinite ? $0 : nil }
        }
    }

    /// Reads `keep` or `max-size`, whose settings make one rule.
    func readKeep(_ entry: SettingNode.Entry, into rule: inout KeepRule?) throws {
        if entry.key == "max-size" {
            let bytes = try readBytes(entry)
            rule = rule ?? KeepRule()
            rule?.maxBytes = bytes
        } else {
            let bytes = rule?.maxBytes
            rule = try parsed(entry) { try KeepRule(parsing: $0, maxBytes: bytes) }
        }
    }

    private func readBytes(_ entry: SettingNode.Entry) throws -> Int64 {
        try value(of: entry, expected: "bytes such as 500M or 2G") { parseByteCount($0).flatMap { $0 > 0 ? $0 : nil } }
    }

    func readChoice<Choice: RawRepresentable<String> & CaseIterable>(_ entry: SettingNode.Entry) throws -> Choice {
        let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        return try value(of: entry, expected: "one of \(words)") { Choice(rawValue: $0) }
    }

    /// - Returns: nil for an empty text.
    func readNaming(_ entry: SettingNode.Entry) throws -> NamingTemplate? {
        try parsed(entry) { $0.isEmpty ? nil : try NamingTemplate(parsing: $0) }
    }

    private func readPattern(_ entry: SettingNode.Entry) throws -> String? {
        let raw = try text(entry)
        let pattern = try expanded(raw, line: entry.line)
        do {
            _ = try Regex(pattern)
        } catch {
            throw refusal(entry, expected: "a regular expression", found: raw)
        }
        return pattern.isEmpty ? nil : pattern
    }

    /// The value that `parse` makes of the text with its variables; what it makes nothing of is refused.
    func value<Value>(of entry: SettingNode.Entry, expected: Message, _ parse: (String) -> Value?) throws -> Value {
        let raw = try text(entry)
        guard let value = parse(try expanded(raw, line: entry.line)) else {
            throw refusal(entry, expected: expected, found: raw)
        }
        return value
    }

    /// Whatever the command line would refuse is refused here in the same words, as a fault of the file.
    private func parsed<T>(_ entry: SettingNode.Entry, _ parse: (String) throws -> T) throws -> T {
        let value = try expanded(try text(entry), line: entry.line)
        do {
            return try parse(value)
        } catch let failure as Failure {
            throw Failure(
                .configuration, disposition: .stop, what: "\(file), line \(entry.line): \(failure.what)",
                why: failure.why, remedy: failure.remedy)
        }
    }
}
