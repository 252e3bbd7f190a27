/// A value that must not be seen: a token, a signing secret, a cookie. Whatever prints it by accident prints `***`.
///
/// It is neither codable nor readable through a mirror; the code that sends it reads ``secretText``, and says so by
/// that name.
package struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The value itself. Never print, log or store it.
    package let secretText: String

    package init(_ text: String) {
        self.secretText = text
    }

    package var isEmpty: Bool { secretText.isEmpty }

    package var description: String { "***" }
    package var debugDescription: String { "***" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
