import BookModel
import Transport

// What books are called whose addresses are their names: feeds, manifests, directories.

extension FeedSettings {
    /// The id of the book that a feed's address names: the address without secrets. Where something had to be left out,
    /// a few digits of a hash tell it from others; user and password are no part of that.
    package static func bookID(of address: ResourceAddress) -> String {
        let text = CatalogAddress.resolve(text: address.secretText, against: nil) ?? address.secretText
        // Most have nothing that could be left out.
        guard text.utf8.contains(where: { "?@#".utf8.contains($0) }) else { return text }
        let shown = FeedAddress.shown(text)
        let whole = String(text.prefix { $0 != "#" })
        guard shown != whole else { return shown }
        return shown + "#" + String(XMLNames.hash(ResourceAddress(whole).normalForm.utf8) >> 32, radix: 16)
    }

    /// What an address may be known by: the ids of a feed's book and of a directory's.
    package static func ids(of address: ResourceAddress) -> [String] {
        address.hasNothingToHide ? [bookID(of: address)] : [bookID(of: address), address.withoutSecrets]
    }

    /// Whether two ids are of one address, in any of its spellings and with any password.
    package static func areSame(_ id: String, _ other: String) -> Bool {
        guard id != other else { return true }
        let ((name, digits), (otherName, otherDigits)) = (parts(ofID: id), parts(ofID: other))
        // What is masked may be what tells two books of one server from each other.
        return normalForm(name) == normalForm(otherName) && (digits == otherDigits || !name.contains("***"))
    }

    /// Whether the id of a book is what an address is known by.
    package static func isID(_ id: String, of address: ResourceAddress) -> Bool {
        ids(of: address).contains { areSame(id, $0) }
    }

    /// That one of some addresses which a book's id is of: as it is written, or else, where the id does not lead to the feed,
    /// another spelling.
    static func address(knownBy id: String, among addresses: [ResourceAddress]) -> ResourceAddress? {
        if let known = addresses.first(where: { bookID(of: $0) == id }) { return known }
        return isWholeAddress(id) ? nil : addresses.first { isID(id, of: $0) }
    }

    /// What the ids of one address, in all of its spellings, have in common; others may have it too.
    package static func commonForm(ofID id: String) -> String { normalForm(parts(ofID: id).name) }

    /// True if an address is another than the one that a book's id is of, whatever the secrets in it.
    package static func isElsewhere(_ address: ResourceAddress, than id: String) -> Bool {
        commonForm(ofID: bookID(of: address)) != commonForm(ofID: id)
    }

    /// Where a subscribed feed that has moved is asked for, secrets included; nil if it has not moved.
    package static func newAddress(of subscription: Subscription) -> ResourceAddress? {
        subscription.address.flatMap { isElsewhere($0, than: subscription.book.id) ? $0 : nil }
    }

    private static func normalForm(_ name: Substring) -> String { ResourceAddress(String(name)).normalForm }

    /// Whether nothing was left out of the address that is the id of a book, so that it leads to the feed.
    package static func isWholeAddress(_ id: String) -> Bool {
        id.contains("://") && !id.contains("***") && parts(ofID: id).digits == nil
    }

    /// The address without its secrets, and what ``bookID(of:)`` puts behind it.
    private static func parts(ofID id: String) -> (name: Substring, digits: Substring?) {
        guard let mark = id.lastIndex(of: "#") else { return (id[...], nil) }
        let digits = id[mark...].dropFirst()
        guard (1...8).contains(digits.utf8.count), UInt32(digits, radix: 16) != nil else { return (id[...], nil) }
        return (id[..<mark], digits)
    }
}
