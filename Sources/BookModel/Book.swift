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

    /// How messages name it.
    package var name: String { title.isEmpty ? identity.description : title }
}

/// What a finished listing can be held to: the number the catalog declared beside the number collected.
package struct ListingProof: Sendable, Hashable {
    /// How many episodes the catalog declared; nil when it did not say.
    package var declared: Int?
    /// How many distinct episodes the pages brought.
    package var collected: Int
    /// Whether every page was read to its end. An incomplete listing adds and updates, and never marks anything gone.
    package var isComplete: Bool
    /// What was odd about the listing, in sentences for the user.
    package var warnings: [Message]
    /// What the catalog's answer came with, where the next listing may ask whether anything changed since; nil after an
    /// incomplete one.
    package var validator: ContentValidator?

    package init(
        declared: Int?, collected: Int, isComplete: Bool, warnings: [Message] = [], validator: ContentValidator? = nil
    ) {
        self.declared = declared
        self.collected = collected
        self.isComplete = isComplete
        self.warnings = warnings
        self.validator = validator
    }
}
