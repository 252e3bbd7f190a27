/// What the pages load beside themselves, as it lies in the program.
enum StaticFile {
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
