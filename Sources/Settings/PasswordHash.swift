import BookModel

/// A password as the configuration keeps it: salted, and stretched by scrypt (RFC 7914), in the form
/// `$scrypt$ln=15,r=8,p=1$SALT$HASH` (PHC string format, base64 without padding).
///
/// Whoever writes the configuration chooses the costs; they are bounded, so that no hash makes the server spend memory or
/// time without end, and none is so cheap that it keeps nothing. Whatever prints it by accident prints `***`.
package struct PasswordHash: Sendable, Hashable {
    /// The logarithm of the number of rounds, to the base of 2.
    package let logRounds: Int
    /// In units of 128 bytes.
    package let blockSize: Int
    package let parallelism: Int
    package let salt: [UInt8]
    package let hash: [UInt8]

    /// Bytes that making the hash needs: at most 64 MiB.
    package var memory: Int { 128 * blockSize << logRounds }

    /// - Returns: nil where a cost or a length is out of bounds.
    package init?(logRounds: Int = 15, blockSize: Int = 8, parallelism: Int = 1, salt: [UInt8], hash: [UInt8]) {
        guard (14...17).contains(logRounds), (1...16).contains(blockSize), (1...4).contains(parallelism),
            // Four times the work of the usual costs at most, and no less than a quarter of it.
            (1 << 16...1 << 20).contains(blockSize * parallelism << logRounds),
            128 * blockSize << logRounds <= 64 << 20,
            (16...64).contains(salt.count), (32...64).contains(hash.count)
        else { return nil }
        self.logRounds = logRounds
        self.blockSize = blockSize
        self.parallelism = parallelism
        self.salt = salt
        self.hash = hash
    }

    /// - Returns: nil when the text is no such hash.
    package init?(parsing text: String) {
        // Its longest: two digits each, 86 characters of base64 twice.
        guard text.utf8.count <= 220, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let format = /\$scrypt\$ln=(\d\d?),r=(\d\d?),p=(\d\d?)\$([^$]*)\$([^$]*)/
        guard let parts = text.wholeMatch(of: format)?.output, let logRounds = Int(parts.1),
            let blockSize = Int(parts.2), let parallelism = Int(parts.3),
            let salt = UnpaddedBase64.bytes(of: String(parts.4)), let hash = UnpaddedBase64.bytes(of: String(parts.5))
        else { return nil }
        self.init(logRounds: logRounds, blockSize: blockSize, parallelism: parallelism, salt: salt, hash: hash)
    }

    /// As it stands in the configuration. Never print or log it.
    package var secretText: String {
        let (salt, hash) = (UnpaddedBase64.text(of: salt), UnpaddedBase64.text(of: hash))
        return "$scrypt$ln=\(logRounds),r=\(blockSize),p=\(parallelism)$\(salt)$\(hash)"
    }
}

extension PasswordHash: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "***" }
    package var debugDescription: String { "***" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
