import BookModel
import CatalogFetcher
import Foundation

/// What is written to a terminal is in the encoding of its user's locale; everything else is UTF-8.
package enum TerminalEncoding {
    /// nil for UTF-8.
    private static let name = Language.encoding(environment: ProcessInfo.processInfo.environment)

    /// Columns that a line may gain when it is converted: an ellipsis becomes three dots.
    static var growth: Int { name == nil ? 0 : 2 }

    /// The text as that descriptor takes it.
    package static func bytes(_ text: String, for descriptor: Int32) -> [UInt8] {
        guard let name, isatty(descriptor) == 1 else { return Array(text.utf8) }
        return encode(text, in: name) ?? Array(text.utf8)
    }
}
