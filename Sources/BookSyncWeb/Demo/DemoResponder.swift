import BookModel
import Crypto
import Foundation
import Hummingbird
import Logging
import NIOCore

/// Answers the requests that the demo catalog gets.
struct DemoResponder: HTTPResponder {
    /// Bytes a second for the audio on each connection; nil without limit.
    let pace: Int?

    func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        guard request.method == .get || request.method == .head else {
            var response = json(DemoAnswers.methodNotAllowed, for: request, status: .methodNotAllowed)
            response.headers[.allow] = "GET, HEAD"
            return response
        }
        let path = request.uri.path
        switch path {
        case "/yyting/bookclient/ClientGetBookResource.action":
            // The audio is where the catalog was reached, whatever name the client has for it.
            let origin = "http://" + (request.head.authority ?? "127.0.0.1")
            return json(DemoAnswers.listing(request.parameters, origin: origin), for: request)
        case "/yyting/bookclient/ClientGetBookDetail.action":
            return json(DemoAnswers.detail(request.parameters), for: request)
        default:
            guard let (book, section) = DemoBook.episode(audioPath: path) else {
                return json(DemoAnswers.notFound, for: request, status: .notFound)
            }
            return audio(DemoAudio(book: book, section: section), for: request)
        }
    }

    private func json(
        _ document: JSONDocument, for request: Request, status: HTTPResponse.Status = .ok
    ) -> Response {
        // The real servers escape slashes.
        let answer = ByteBuffer(string: document.text().replacing("/", with: "\\/"))
        var headers = HTTPFields()
        headers[.contentType] = "application/json;charset=UTF-8"
        headers[.contentLength] = String(answer.readableBytes)
        let body = request.method == .head ? ResponseBody() : ResponseBody(byteBuffer: answer)
        return Response(status: status, headers: headers, body: body)
    }

    private func audio(_ audio: DemoAudio, for request: Request) -> Response {
        // Made anew for every request: some 300 KB copied and hashed take about a millisecond, and nothing is kept.
        let bytes = audio.bytes
        let media = MediaRepresentation(
            length: Int64(bytes.count), entityTag: "\"\(SHA256.hash(data: bytes).hexadecimal.prefix(32))\"",
            lastModified: DemoAnswers.lastModified / 1000, contentType: "audio/mpeg")
        return mediaResponse(to: request, for: media, now: Int64(Date.now.timeIntervalSince1970)) { range in
            let part = ByteBuffer(bytes: bytes[Int(range.lowerBound)..<Int(range.upperBound)])
            return ResponseBody(part, bytesPerSecond: pace)
        }
    }
}

extension ResponseBody {
    /// Gives the bytes away at a pace, in small pieces, so that little is in flight when the client dies.
    /// - Parameter bytesPerSecond: nil for as fast as the client takes them.
    init(_ bytes: ByteBuffer, bytesPerSecond: Int?) {
        guard let bytesPerSecond, bytesPerSecond > 0 else {
            self.init(byteBuffer: bytes)
            return
        }
        self.init(contentLength: bytes.readableBytes) { writer in
            var rest = bytes
            var sent = 0
            let start = ContinuousClock.now
            while let piece = rest.readSlice(length: min(4096, rest.readableBytes)), piece.readableBytes > 0 {
                try await writer.write(piece)
                sent += piece.readableBytes
                try await Task.sleep(until: start + .seconds(Double(sent) / Double(bytesPerSecond)))
            }
            try await writer.finish(nil)
        }
    }
}
