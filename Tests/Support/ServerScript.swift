/// What a server does with each request.
package struct ServerScript: Sendable {
    package let answer: @Sendable (ServerRequest) -> Reply

    package init(_ answer: @escaping @Sendable (ServerRequest) -> Reply) {
        self.answer = answer
    }

    /// A script for each path; 404 for any other.
    package static func paths(_ scripts: [String: ServerScript]) -> ServerScript {
        ServerScript { request in scripts[request.path]?.answer(request) ?? .notFound }
    }

    /// The same answer for every request.
    package static func always(_ reply: Reply) -> ServerScript {
        ServerScript { _ in reply }
    }

    /// One answer after the other for the path's requests; the last one for all that follow.
    package static func replies(_ replies: [Reply]) -> ServerScript {
        ServerScript { request in replies.isEmpty ? .notFound : replies[min(request.number, replies.count - 1)] }
    }

    /// A file served well, save for what the deeds say: the first deed spoils the path's first answer, and so on; the
    /// last deed is for all that follow.
    package static func file(_ file: ServedFile, _ deeds: [Deed] = [.wellBehaved]) -> ServerScript {
        ServerScript { request in
            let answer = file.answer(to: request)
            return deeds.isEmpty ? answer : deeds[min(request.number, deeds.count - 1)].spoil(answer, request, file)
        }
    }

    package static func file(
        _ bytes: [UInt8], etag: String? = "\"v1\"", lastModified: String? = ServedFile.longAgo, ranges: Bool = true,
        pace: Pace? = nil, _ deeds: [Deed] = [.wellBehaved]
    ) -> ServerScript {
        .file(ServedFile(bytes, etag: etag, lastModified: lastModified, ranges: ranges, pace: pace), deeds)
    }
}

/// One misdeed: what is done to the answer that a good server would have given. Byte counts are those of this
/// answer's body, wherever in the file it begins.
package struct Deed: Sendable {
    package let spoil: @Sendable (Reply, ServerRequest, ServedFile) -> Reply

    /// Changes the good answer in any way.
    package static func change(_ change: @escaping @Sendable (inout Reply, ServerRequest) -> Void) -> Deed {
        Deed { reply, request, _ in
            var reply = reply
            change(&reply, request)
            return reply
        }
    }

    package static let wellBehaved = change { _, _ in }

    package static func ending(_ ending: Reply.Ending) -> Deed {
        change { reply, _ in reply.ending = ending }
    }

    /// A clean end of the connection after so many body bytes.
    package static func cut(at bytes: Int) -> Deed { ending(.cutAfter(bytes: bytes)) }
    /// A reset after so many body bytes.
    package static func reset(at bytes: Int) -> Deed { ending(.resetAfter(bytes: bytes)) }
    package static func stall(at bytes: Int, until gate: Gate) -> Deed {
        ending(.stallAfter(bytes: bytes, until: gate))
    }
    package static let closeBeforeAnswer = ending(.closeBeforeAnswer)
    package static let resetBeforeAnswer = ending(.resetBeforeAnswer)
    package static let neverAnswer = ending(.neverAnswer)
    package static let closeAfterHead = cut(at: 0)

    package static func framing(_ framing: Reply.Framing) -> Deed {
        change { reply, _ in reply.framing = framing }
    }

    /// Replaces (or with nil removes) a field of the good answer.
    package static func header(_ name: String, _ value: String?) -> Deed {
        change { reply, _ in reply.setHeader(name, value) }
    }

    package static func paced(_ pace: Pace) -> Deed {
        change { reply, _ in reply.pace = pace }
    }

    /// Another answer altogether.
    package static func instead(_ reply: Reply) -> Deed {
        Deed { _, _, _ in reply }
    }

    /// 200 and the whole file, whatever was asked for.
    package static let ignoreRange = Deed { _, request, file in
        var request = request
        request.headers.removeAll { $0.name.lowercased() == "range" }
        return file.answer(to: request)
    }

    /// 206 as asked for, even when If-Range says that the client means another version.
    package static let ignoreIfRange = Deed { _, request, file in
        var request = request
        request.headers.removeAll { $0.name.lowercased() == "if-range" }
        return file.answer(to: request)
    }

    /// One deed after the other, on the same answer.
    package static func both(_ first: Deed, _ second: Deed) -> Deed {
        Deed { reply, request, file in second.spoil(first.spoil(reply, request, file), request, file) }
    }
}
