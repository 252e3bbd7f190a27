import BookModel
import Foundation
import NIOHTTP1
import Transport

/// The parts of an answer's head that decide what becomes of its body.
struct ResponseHead: Equatable, Sendable {
    var status: Int
    var contentRange: ContentRange?
    var contentLength: Int64?
    /// Lower-case, without parameters.
    var contentType: String?
    /// Anything but identity means that the body's bytes are not those of the file.
    var coding = ContentCoding.identity
    var validator = ContentValidator()
    /// Whether it is of a station (SHOUTcast, Icecast), whose sound has no end.
    var isLiveStream = false
}

extension ResponseHead {
    init(_ answer: HTTPResponse) {
        status = answer.status
        contentRange = answer.contentRange
        // A transfer coding makes any length meaningless (RFC 9112 §6.3).
        let isChunked = answer.first("Transfer-Encoding") != nil
        contentLength = isChunked ? nil : answer.first("Content-Length").flatMap { Int64($0) }
        contentType = answer.first("Content-Type").map {
            String($0.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }).lowercased()
        }
        isLiveStream = contentLength == nil && answer.headers.contains { $0.name.lowercased().hasPrefix("icy-") }
        coding = answer.contentCoding
        let lastModified = answer.first("Last-Modified")
        var age: Int?
        if let modified = lastModified.flatMap(HTTPDate.seconds(parsing:)),
            let date = answer.first("Date").flatMap(HTTPDate.seconds(parsing:))
        {
            age = Int(clamping: date - modified)
        }
        validator = ContentValidator(entityTag: answer.first("ETag"), lastModified: lastModified, age: age)
    }

    /// True if it is the head of a file that was downloaded before: by its entity tag, or by date and length, or where these
    /// cannot be compared by its length.
    ///
    /// - Parameter size: the catalog's.
    func isOf(_ file: LocalFile, listedWith size: Int64?) -> Bool {
        let (old, length) = (file.validator, FileSize.sensible(contentLength))
        if let tag = validator.entityTag, let then = old.entityTag { return tag == then }
        if let date = validator.lastModified, let then = old.lastModified {
            return date == then && length ?? file.fetchedSize == file.fetchedSize
        }
        guard let length else { return false }
        // A server that sends no validators may send another file each time: then a size that it does not have says nothing.
        let isFalse = validator == ContentValidator() && size ?? length != length && size != file.catalogSize
        return length == file.fetchedSize || isFalse && file.catalogSize != nil
    }
}
