import BookModel
import Transport

/// A book's cover, as a server gave it.
package struct CoverPicture: Sendable {
    package var bytes: [UInt8]
    /// Without its dot.
    package var fileExtension: String

    /// Bytes; what is larger is no picture for a shelf.
    package static let maximum = 16_000_000

    /// The names under which covers are known, by what the first bytes say: servers name pictures by other formats'
    /// types.
    /// - Returns: nil when it is no picture that players show.
    package static func fileExtension(of bytes: [UInt8]) -> String? {
        func begins(_ magic: [UInt8], at offset: Int = 0) -> Bool {
            bytes.count > offset + magic.count && bytes[offset..<offset + magic.count].elementsEqual(magic)
        }
        if begins([0xFF, 0xD8, 0xFF]) { return "jpg" }
        if begins([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "png" }
        if begins(Array("GIF8".utf8)) { return "gif" }
        if begins(Array("RIFF".utf8)), begins(Array("WEBP".utf8), at: 8) { return "webp" }
        return nil
    }

    /// Its server does not answer, and would not answer for another book's either.
    package struct Silence: Error {
        package let failure: Failure
    }

    /// Where covers are looked for.
    /// - Parameter folder: of the book, relative to the library; "" for the library itself.
    package static func paths(in folder: String) -> [String] {
        ["jpg", "jpeg", "png", "webp", "gif"].map { (folder.isEmpty ? "" : folder + "/") + "cover." + $0 }
    }

    /// Asks for the picture, once.
    /// - Throws: ``Failure`` that says why there is none; ``Silence``; `CancellationError`.
    package static func fetch(
        _ address: ResourceAddress, of book: BookIdentity, over transport: HTTPTransport
    ) async throws -> CoverPicture {
        func refuse(_ why: Message, _ remedy: Message? = nil) -> Failure {
            Failure(
                .catalogUnavailable, what: "the cover of \(book) cannot be had", why: "\(address): \(why)",
                remedy: remedy)
        }
        do {
            let answer = try await transport.send(HTTPRequest(.get, address))
            guard answer.status == 200 else { throw refuse("it answers with HTTP status \(answer.status)") }
            let bytes = try await answer.bytes(upTo: maximum)
            guard let fileExtension = fileExtension(of: bytes) else { throw refuse("the answer is no picture") }
            return CoverPicture(bytes: bytes, fileExtension: fileExtension)
        } catch let failure as TransportError {
            throw Silence(failure: refuse(failure.why, failure.remedy))
        }
    }
}
