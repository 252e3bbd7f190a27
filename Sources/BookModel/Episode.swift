import Foundation

/// One audio file of a book, as the catalog lists it. What the catalog does not say is nil.
package struct Episode: Sendable, Hashable {
    /// Of a listing: what it proposes; the store may know the episode by another key.
    package var identity: EpisodeIdentity
    /// By what the catalog itself identifies the episode, hashed where it may hold secrets; nil where the key is just that.
    package var rawKey: String?
    /// The number by which the user names the episode (`REF/12`): the catalog's, or its position in the listing.
    package var section: Int
    package var numbering = Numbering.catalog
    package var name: String
    /// Where the audio is; nil when the catalog gives no address: the episode is locked.
    package var address: ResourceAddress?
    /// Bytes, as the catalog says; sometimes stale.
    package var size: Int64?
    /// Seconds.
    package var duration: Double?
    package var publishedAt: Date?
    /// When the catalog says the episode was last changed.
    package var modifiedAt: Date?
    /// MIME type, where the catalog gives one.
    package var mediaType: String?
    package var guid: String?
    /// Episode and season number as feeds give them (`itunes:episode`, `itunes:season`). Elsewhere the number is the
    /// track's, or the one in the file's name, and the season is the disc.
    package var number: Int?
    package var season: Int?
    package var digest: ContentDigest?
    /// True for a file of a directory, whose raw key is its path: another one that is named alike is another one.
    package var isFile = false
    /// Chapters that the listing itself has, as the list of a document of JSON Chapters 1.2.
    package var chapters: String?
    /// Of a document of JSON Chapters; nil also where it holds secrets, which are not kept.
    package var chaptersAddress: ResourceAddress?

    /// What a listing's ``section`` is worth. A number that an episode was once given stays, save for `catalog`.
    package enum Numbering: Sendable, Hashable {
        /// The catalog's own, followed wherever it goes.
        case catalog
        /// The catalog's, where no other episode has it.
        case stated
        /// The position in the listing at hand.
        case place
        /// None, among others that are numbered.
        case unnumbered
    }

    package init(
        identity: EpisodeIdentity, rawKey: String? = nil, section: Int, numbering: Numbering = .catalog, name: String,
        address: ResourceAddress? = nil, size: Int64? = nil,
        duration: Double? = nil, publishedAt: Date? = nil, modifiedAt: Date? = nil, mediaType: String? = nil,
        guid: String? = nil, number: Int? = nil, season: Int? = nil, digest: ContentDigest? = nil,
        chapters: String? = nil, chaptersAddress: ResourceAddress? = nil
    ) {
        self.identity = identity
        self.rawKey = rawKey
        self.section = section
        self.numbering = numbering
        self.name = name
        self.address = address
        self.size = size
        self.duration = duration
        self.publishedAt = publishedAt
        self.modifiedAt = modifiedAt
        self.mediaType = mediaType
        self.guid = guid
        self.number = number
        self.season = season
        self.digest = digest
        self.chapters = chapters
        self.chaptersAddress = chaptersAddress
    }

    package var isLocked: Bool { address == nil }
}

/// A digest of an episode's bytes that the catalog or the server declares, in lower-case hexadecimal.
package struct ContentDigest: Sendable, Hashable {
    package enum Algorithm: String, Sendable, CaseIterable {
        case md5, sha1, sha256
    }

    package let algorithm: Algorithm
    package let hexadecimal: String

    package init(algorithm: Algorithm, hexadecimal: String) {
        self.algorithm = algorithm
        self.hexadecimal = hexadecimal.lowercased()
    }
}
