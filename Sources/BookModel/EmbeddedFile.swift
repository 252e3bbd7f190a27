import CEmbeddedFiles

/// A file of `Sources` that is embedded in the program.
package enum EmbeddedFile {
    /// - Parameter name: a name in `CEmbeddedFiles`, without folders.
    /// - Returns: a copy of the file.
    package static func bytes(_ name: String) -> [UInt8] {
        guard let file = embedded_file(name)?.pointee else { preconditionFailure(name) }
        return Array(UnsafeBufferPointer(start: file.bytes, count: file.size))
    }

    package static func text(_ name: String) -> String { String(decoding: bytes(name), as: UTF8.self) }
}
