import BookModel
import Crypto

/// What the pages load beside themselves, as it lies in the program.
enum StaticFile {
    /// Stands in the addresses of style and script: another program has others, so that browsers may keep them for good.
    static let version: String = {
        var hash = SHA256()
        for name in ["shelf.css", "shelf.js", "pages.js", "live.js", "player.js"] {
            hash.update(data: named(name)?.bytes ?? [])
        }
        return hash.finalize().prefix(8).hexadecimal
    }()

    /// - Parameter version: that the address names.
    /// - Returns: nil when there is no such file, or it is another version's.
    static func named(_ name: String, of version: String) -> Page? {
        guard version == self.version, var page = named(name) else { return nil }
        page.isLasting = true
        return page
    }

    /// - Returns: nil when there is no such file.
    static func named(_ name: String) -> Page? { pages[name] }

    private static let pages: [String: Page] = {
        let mediaTypes = [
            "shelf.css": "text/css; charset=utf-8", "shelf.js": "text/javascript; charset=utf-8",
            "pages.js": "text/javascript; charset=utf-8", "live.js": "text/javascript; charset=utf-8",
            "player.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml",
            "shelf.webmanifest": "application/manifest+json",
        ]
        return Dictionary(
            uniqueKeysWithValues: mediaTypes.map { name, mediaType in
                (name, Page(mediaType: mediaType, bytes: EmbeddedFile.bytes(name), isPage: false))
            })
    }()
}
