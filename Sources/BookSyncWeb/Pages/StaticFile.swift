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
    static func named(_ name: String) -> Page? {
        switch name {
        case "shelf.css": page(PackageResources.shelf_css, "text/css; charset=utf-8")
        case "shelf.js": page(PackageResources.shelf_js, "text/javascript; charset=utf-8")
        case "pages.js": page(PackageResources.pages_js, "text/javascript; charset=utf-8")
        case "live.js": page(PackageResources.live_js, "text/javascript; charset=utf-8")
        case "player.js": page(PackageResources.player_js, "text/javascript; charset=utf-8")
        case "icon.svg": page(PackageResources.icon_svg, "image/svg+xml")
        case "shelf.webmanifest": page(PackageResources.shelf_webmanifest, "application/manifest+json")
        default: nil
        }
    }

    private static func page(_ bytes: [UInt8], _ mediaType: String) -> Page {
        Page(mediaType: mediaType, bytes: bytes, isPage: false)
    }
}
