import BookModel
import Foundation

/// A file that is named on the command line, or standard input.
package enum InputFile {
    /// - Parameters:
    ///   - path: `-` for standard input.
    ///   - isFile: whether `-` is the name of a file, too.
    ///   - limit: bytes that it may have.
    /// - Throws: ``Failure`` of kind `inputOutput` when it cannot be read, `unreadableCatalog` when it is longer.
    package static func bytes(
        of path: String, isFile: Bool = false, named name: Message, upTo limit: Int
    ) throws -> [UInt8] {
        do {
            let isInput = path == "-" && !isFile
            let file = isInput ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
            var bytes: [UInt8] = []
            while bytes.count <= limit, let part = try file.read(upToCount: 1 << 20), !part.isEmpty { bytes += part }
            guard bytes.count <= limit else {
                throw Failure(
                    .unreadableCatalog, what: "\(name) cannot be read",
                    why: "it is longer than \(describeBytes(Int64(limit)))")
            }
            return bytes
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(
                .inputOutput, what: "\(name) cannot be read", why: Message(cause: error),
                remedy: "check the name and the permissions of the file")
        }
    }
}
