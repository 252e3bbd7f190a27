import Hummingbird

/// The page to log in at: a form and nothing else.
struct LoginPage: Sendable {
    let root: String
    let formToken: String
    /// Where to go on afterwards.
    let back: String
    let status: HTTPResponse.Status

    static let contentSecurityPolicy =
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

    var text: String {
        let trouble =
            switch status {
            case .forbidden: "<p role=\"alert\">That is not the password.</p>\n"
            case .tooManyRequests: "<p role=\"alert\">Too many tries: wait a moment, then try again.</p>\n"
            default: ""
            }
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>booksync</title>
            <meta name="viewport" content="width=device-width"></head><body><main>
            <h1>booksync</h1>
            \(trouble)<form method="post" action="\(Self.escaped(root))/actions/login">
            <input type="hidden" name="token" value="\(Self.escaped(formToken))">
            <input type="hidden" name="return" value="\(Self.escaped(back))">
            <label>Password <input type="password" name="password" autocomplete="current-password" required></label>
            <button>Log in</button></form>
            </main></body></html>

            """
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("\"", with: "&quot;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;")
    }
}
