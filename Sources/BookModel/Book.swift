import Foundation

/// One title in one source, as far as the catalog describes it.
package struct Book: Sendable, Hashable {
    package var identity: BookIdentity
    package var title: String
    package var author: String?
    package var narrator: String?
    package var summary: String?
    /// BCP 47, as in `zh` or `en-GB`.
    package var language: String?
    /// Where the cover picture is; shown and stored only without secrets.
    package var cover: ResourceAddress?
    /// How many episodes the catalog says the book has; nil when it does not say.
    package var declaredEpisodes: Int?
    /// Whether the last listing proved complete (see ``ListingProof``).
    package var isComplete: Bool
    /// Other ``names`` that the last complete listings had, and how many of them in a row.
    package var candidateNames: String?
    package var candidateListings = 0

    package init(
        identity: BookIdentity, title: String, author: String? = nil, narrator: String? = nil,
        summary: String? = nil, language: String? = nil, cover: ResourceAddress? = nil, declaredEpisodes: Int? = nil,
        isComplete: Bool = false
    ) {
        self.identity = identity
        self.title = title
        self.author = author
        self.narrator = narrator
        self.summary = summary
        self.language = language
        self.cover = cover
        self.declaredEpisodes = declaredEpisodes
        self.isComplete = isComplete
    }

    /// The title of a book whose catalog gives none.
    package static func untitled(_ identity: BookIdentity) -> String { "Book \(identity.id)" }

    /// How messages name it.
    package var name: String { title.isEmpty ? identity.description : title }

    /// The names in the paths of its files: title, author and narrator.
    package var names: String { [title, author, narrator].compactMap(\.self).joined(separator: " · ") }

    /// So many listings in a row have to agree on other names before files are renamed: a channel's title goes to and fro.
    package static let listingsToRename = 3

    /// Gives a book that was just listed its former names back, until enough listings in a row have others.
    /// - Parameters:
    ///   - known: the book as it was called until now.
    ///   - counts: whether the listing says anything about names: it is complete, and has an episode that was known.
    package mutating func settleNames(after known: Book, counts: Bool) {
        let listed = names
        (candidateNames, candidateListings) = (known.candidateNames, known.candidateListings)
        if counts {
            candidateListings = listed == candidateNames ? candidateListings.addingSaturated(1) : 1
            candidateNames = listed
            if listed == known.names || candidateListings >= Self.listingsToRename {
                (candidateNames, candidateListings) = (nil, 0)
                return
            }
        }
        (title, author, narrator) = (known.title, known.author, known.narrator)
    }
}

/// What a finished listing can be held to: the number the catalog declared beside the number collected.
package struct ListingProof: Sendable, Hashable {
    /// How many episodes the catalog declared; nil when it did not say.
    package var declared: Int?
    /// How many distinct episodes the pages brought.
    package var collected: Int
    /// Whether every page was read to its end. An incomplete listing adds and updates, and never marks anything gone.
    package var isComplete: Bool
    /// True if the response was whole, and only declares more than it lists, as some catalogs do for ever.
    package var miscounts = false
    /// What was odd about the listing, in sentences for the user.
    package var warnings: [Message]
    /// The validator of the next conditional listing; nil after an incomplete one.
    package var validator: ListingValidator?

    package init(
        declared: Int?, collected: Int, isComplete: Bool, warnings: [Message] = [], validator: ListingValidator? = nil
    ) {
        self.declared = declared
        self.collected = collected
        self.isComplete = isComplete
        self.warnings = warnings
        self.validator = validator
    }
}

/// The validators of a listing that was read whole, for a conditional request.
package struct ListingValidator: Sendable, Hashable, Codable {
    /// One page, and what its response came with.
    package struct Page: Sendable, Hashable, Codable {
        /// Without secrets; nil for the first page, which is at the book's own address.
        package var address: String?
        package var validator: ContentValidator

        package init(address: String? = nil, validator: ContentValidator) {
            self.address = address
            self.validator = validator
        }
    }

    package var pages: [Page]
    package var readAt: Date

    package init(pages: [Page], readAt: Date) {
        self.pages = pages
        self.readAt = readAt
    }

    /// Seconds for which a server is believed that nothing changed.
    private static let lifetime: Double = 7 * 86400

    package func isGood(at now: Date) -> Bool { (0..<Self.lifetime).contains(now.timeIntervalSince(readAt)) }
}
