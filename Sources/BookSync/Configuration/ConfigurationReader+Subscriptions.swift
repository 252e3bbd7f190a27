import BookModel

extension ConfigurationReader {
    static let subscriptionKeys = ["book", "title", "latest", "only", "match", "exclude"]

    func readSubscription(_ item: SettingNode) throws -> SubscriptionSetting {
        let entries = try map(item, of: "subscriptions")
        guard let book = entries.first(where: { $0.key == "book" }) else {
            throw refusal(item.line, "subscriptions", expected: "a 'book' in every item", found: nil)
        }
        let reference = try parsed(book) { try BookReference(parsing: $0) }
        var subscription = SubscriptionSetting(reference: reference, filter: reference.filter)
        for entry in entries {
            switch entry.key {
            case "book": break
            case "title":
                let title = try expanded(try text(entry), line: entry.line)
                subscription.title = title.isEmpty ? nil : title
            case "latest":
                let raw = try text(entry)
                guard let count = Int(try expanded(raw, line: entry.line)), count > 0 else {
                    throw refusal(entry.line, "latest", expected: "a whole number from 1 on", found: raw)
                }
                subscription.filter.latest = count
            case "only": subscription.filter.only = try parsed(entry) { try SectionRanges(parsing: $0) }
            case "match": subscription.filter.match = try readPattern(entry)
            case "exclude": subscription.filter.exclude = try readPattern(entry)
            default: throw unknown(entry, in: "subscriptions")
            }
        }
        return subscription
    }

    private func readPattern(_ entry: SettingNode.Entry) throws -> String? {
        let raw = try text(entry)
        let pattern = try expanded(raw, line: entry.line)
        do {
            _ = try Regex(pattern)
        } catch {
            throw refusal(entry.line, entry.key, expected: "a regular expression (\(error))", found: raw)
        }
        return pattern.isEmpty ? nil : pattern
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
