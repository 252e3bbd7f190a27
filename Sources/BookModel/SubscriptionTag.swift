/// A folder that a subscription is filed under, within other folders or not.
package struct SubscriptionTag: Sendable, Hashable, CustomStringConvertible {
    /// Names, the outermost folder's first; at least one, each on one line and not empty.
    package let path: [String]

    /// - Returns: nil when a name is empty or has several lines, or there is none.
    package init?(path: [String]) {
        guard !path.isEmpty, path.allSatisfy({ !$0.isEmpty && !$0.contains(where: \.isNewline) }) else { return nil }
        self.path = path
    }

    /// For people: a name may hold a slash itself.
    package var description: String { path.joined(separator: "/") }
}
