import BookSync
import Crypto
import CryptoExtras
import Foundation
import Settings

extension PasswordHash {
    /// Makes the hash of a password, with a salt of its own. Takes about a tenth of a second and 32 MiB.
    package static func make(of password: String) throws -> PasswordHash {
        let salt = ServeKeys.random(16)
        let unset = [UInt8](repeating: 0, count: 32)
        guard let costs = PasswordHash(salt: salt, hash: unset),
            let made = PasswordHash(salt: salt, hash: try costs.derived(from: password))
        else { throw CryptoKitError.incorrectParameterSize }
        return made
    }

    /// Whether it is the hash of the password. Takes as much time for a wrong one.
    package func matches(_ password: String) throws -> Bool {
        Session.isSame(try derived(from: password), hash)
    }

    private func derived(from password: String) throws -> [UInt8] {
        // One spelling for what keyboards compose in different ways (RFC 8265 §4.2.2).
        let bytes = Array(password.precomposedStringWithCanonicalMapping.utf8)
        // An empty array has no address to hand on.
        let key = try KDF.Scrypt.deriveKey(
            from: bytes.isEmpty ? [0] : bytes, salt: salt, outputByteCount: hash.count, rounds: 1 << logRounds,
            blockSize: blockSize, parallelism: parallelism)
        return key.withUnsafeBytes { Array($0) }
    }
}
