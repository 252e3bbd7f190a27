import BookModel
import NIOHTTP1
import Transport

/// Which representation the pieces of a file are pieces of, and where it is had.
struct PieceSource: Sendable {
    /// Without `Range` and `If-Range`.
    var request: HTTPRequest
    /// One that `If-Range` can carry.
    var validator: ContentValidator
    var total: Int64
}

extension HTTPRequest {
    /// The same request for a part of the file.
    func asking(for asked: RangeRequest) -> HTTPRequest {
        guard let range = asked.range else { return self }
        var request = self
        request.headers.add(name: "Range", value: range)
        if let ifRange = asked.ifRange { request.headers.add(name: "If-Range", value: ifRange) }
        return request
    }
}
