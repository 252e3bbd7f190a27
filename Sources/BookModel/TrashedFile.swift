import Foundation

/// A file that was removed and can still be brought back.
package struct TrashedFile: Sendable, Hashable {
    /// Of its record in the store.
    package var number: Int64
    package var section: Int
    package var name: String
    /// The book's, as the catalog has it.
    package var title: String
    /// As it was recorded, at the path from which it was removed.
    package var file: LocalFile
    /// When the user removed the episode; the same for all that one command removed.
    package var removedAt: Date
    /// When the file came to the trash; nil while it is on its way.
    package var movedAt: Date?
    /// Whether the episode is still removed.
    package var isRemoved: Bool
    /// The name of its library; nil where only one is looked at.
    package var library: String?

    package init(
        number: Int64, section: Int, name: String, title: String, file: LocalFile, removedAt: Date,
        movedAt: Date? = nil, isRemoved: Bool = true
    ) {
        self.number = number
        self.section = section
        self.name = name
        self.title = title
        self.file = file
        self.removedAt = removedAt
        self.movedAt = movedAt
        self.isRemoved = isRemoved
    }
}
