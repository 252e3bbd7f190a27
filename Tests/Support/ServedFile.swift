/// A file as a good server gives it: ranges, If-Range, conditional requests, HEAD. Written apart from the product's own
/// range code, so that neither can hide the other's mistakes.
package struct ServedFile: Sendable {
    package static let longAgo = "Tue, 03 Mar 2020 10:00:00 GMT"

    package var bytes: [UInt8]
    package var etag: String?
    package var lastModified: String?
    package var contentType: String?
    /// Whether Range is honoured; without, every answer is the whole file.
    package var ranges: Bool
    package var pace: Pace?
    /// Sent with every answer; fixed, so that the age of `Last-Modified` is what the test says.
    package var date: String?

    package init(
        _ bytes: [UInt8], etag: String? = "\"v1\"", lastModified: String? = longAgo,
        contentType: String? = "audio/mpeg", ranges: Bool = true, pace: Pace? = nil,
        date: String? = "Thu, 01 Jan 2026 00:00:00 GMT"
    ) {
        self.bytes = bytes
        self.etag = etag
        self.lastModified = lastModified
        self.contentType = contentType
        self.ranges = ranges
        self.pace = pace
        self.date = date
    }

    package func answer(to request: ServerRequest) -> Reply {
        var reply = Reply(body: bytes, pace: pace)
        reply.setHeader("Date", date)
        reply.setHeader("Last-Modified", lastModified)
        reply.setHeader("ETag", etag)
        reply.setHeader("Content-Type", contentType)
        reply.setHeader("Accept-Ranges", ranges ? "bytes" : nil)
        if isUnchanged(request) {
            reply.status = 304
            reply.body = []
            return reply
        }
        guard ranges, request.method == "GET", let asked = request.header("Range"), isSameVersion(request) else {
            return reply.method(request.method, length: bytes.count)
        }
        switch Self.span(asked, of: bytes.count) {
        case .whole: return reply
        case .unsatisfiable:
            reply.status = 416
            reply.body = []
            reply.setHeader("Content-Range", "bytes */\(bytes.count)")
        case .part(let span):
            reply.status = 206
            reply.body = Array(bytes[span])
            reply.setHeader("Content-Range", "bytes \(span.lowerBound)-\(span.upperBound - 1)/\(bytes.count)")
        }
        return reply
    }

    private func isUnchanged(_ request: ServerRequest) -> Bool {
        if let tags = request.header("If-None-Match") {
            guard let etag else { return false }
            return tags == "*" || tags.split(separator: ",").contains { $0.drop { $0 == " " } == etag }
        }
        guard let lastModified, let since = request.header("If-Modified-Since") else { return false }
        return since == lastModified
    }

    /// Whether If-Range, where there is one, names this version; a weak tag never does.
    private func isSameVersion(_ request: ServerRequest) -> Bool {
        guard let condition = request.header("If-Range") else { return true }
        if condition.hasPrefix("W/") { return false }
        return condition.hasPrefix("\"") ? condition == etag : condition == lastModified
    }

    private enum Span {
        case whole
        case unsatisfiable
        case part(Range<Int>)
    }

    /// One range of bytes; anything else is ignored, as a server may.
    private static func span(_ text: String, of total: Int) -> Span {
        guard text.hasPrefix("bytes=") else { return .whole }
        let bounds = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard bounds.count == 2 else { return .whole }
        switch (Int(bounds[0]), Int(bounds[1])) {
        case (nil, let suffix?) where bounds[0].isEmpty:
            return suffix == 0 || total == 0 ? .unsatisfiable : .part(max(0, total - suffix)..<total)
        case (let first?, nil) where bounds[1].isEmpty:
            return first < total ? .part(first..<total) : .unsatisfiable
        case (let first?, let last?) where first <= last:
            return first < total ? .part(first..<min(last + 1, total)) : .unsatisfiable
        default: return .whole
        }
    }
}

extension Reply {
    /// HEAD tells the length and sends nothing.
    fileprivate func method(_ method: String, length: Int) -> Reply {
        guard method == "HEAD" else { return self }
        var reply = self
        reply.framing = .declared(length)
        reply.body = []
        return reply
    }
}
