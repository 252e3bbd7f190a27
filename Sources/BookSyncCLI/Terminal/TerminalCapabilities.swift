/// What may be written to a stream besides plain lines.
package struct TerminalCapabilities: Equatable, Sendable {
    /// Lines that are redrawn in place.
    package var showsBars: Bool
    package var usesColor: Bool

    /// - Parameters:
    ///   - isTTY: whether what is written to is a terminal.
    ///   - noColor: whether `--no-color` was given.
    package static func detect(environment: [String: String], isTTY: Bool, noColor: Bool) -> TerminalCapabilities {
        let term = environment["TERM"] ?? ""
        let showsBars = isTTY && !term.isEmpty && term != "dumb"
        // https://no-color.org: present and not empty, whatever its value.
        let wantsNone = noColor || environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        return TerminalCapabilities(showsBars: showsBars, usesColor: showsBars && !wantsNone)
    }
}
