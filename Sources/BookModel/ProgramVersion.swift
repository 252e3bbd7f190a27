/// What the program says of itself.
package enum ProgramVersion {
    package static let version = "0.1.0"
    /// Where an operator of a server reads what asks it.
    private static let homePage = "https://booksync.example"

    /// The value of `User-Agent` (RFC 9110 §10.1.5).
    package static let userAgent = "booksync/\(version) (+\(homePage))"
}
