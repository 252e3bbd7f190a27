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

    init(
        status: Int, contentRange: ContentRange? = nil, contentLength: Int64? = nil, contentType: String? = nil,
        coding: ContentCoding = .identity, validator: ContentValidator = .init()
    ) {
        self.status = status
        self.contentRange = contentRange
        self.contentLength = contentLength
        self.contentType = contentType
        self.coding = coding
        self.validator = validator
    }

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
        coding = ContentCoding(parsing: answer.headers["Content-Encoding"].joined(separator: ","))
        let lastModified = answer.first("Last-Modified")
        var age: Int?
        if let modified = lastModified.flatMap(HTTPDate.seconds(parsing:)),
            let date = answer.first("Date").flatMap(HTTPDate.seconds(parsing:))
        {
            age = Int(clamping: date - modified)
        }
        validator = ContentValidator(entityTag: answer.first("ETag"), lastModified: lastModified, age: age)
    }
}
