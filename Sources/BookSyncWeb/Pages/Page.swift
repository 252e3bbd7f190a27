import BookModel

/// Who looks at a page, and what they may do.
package struct Visitor: Sendable {
    package var language: Language
    /// Every form carries it, as a proof that it comes from a page of ours.
    package var formToken: String
    package var user = User.owner
    /// Whether the buttons are there.
    package var mayChange: Bool
    /// Whether it is recorded what they listen to.
    package var keepsPositions: Bool
    /// Whether there is something to log out of.
    package var isLoggedIn: Bool
    /// Whether those who log in have names, and whether the shelf itself has a password.
    package var hasNames = false
    package var hasOwner = true
}

/// What a browser is given: a page, a picture, a script.
package struct Page: Sendable {
    /// HTTP
    package var status = 200
    /// MIME, with its character set where it is text.
    package var mediaType = "text/html; charset=utf-8"
    package var bytes: [UInt8]
    /// Whether it is a page, which may load our own script, style and pictures and send our forms. All else may nothing.
    package var isPage = true
    /// Whether its address never leads to anything else.
    package var isLasting = false

    /// What a page may load (CSP Level 3). Nothing is from other hosts, nothing stands in the page itself.
    package static let contentSecurityPolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; \
        manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'
        """
}
