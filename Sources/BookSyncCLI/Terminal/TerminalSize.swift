import Foundation

/// Columns and rows of a terminal.
package struct TerminalSize: Equatable, Sendable {
    package var columns: Int
    package var rows: Int

    /// - Returns: nil when the descriptor is no terminal, or one that does not know its size.
    package static func current(of descriptor: Int32) -> TerminalSize? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }
}
