import NIOCore
import NIOHTTP1

/// Has a request in the form that proxies get (`GET http://host/path`) be judged by the host that it names there, whatever
/// its Host field says (RFC 9112 §3.2.2): what Hummingbird makes of it keeps the path alone.
final class AbsoluteFormHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), let authority = Self.authority(of: head.uri),
            head.headers["Host"].count == 1
        else { return context.fireChannelRead(data) }
        head.headers.replaceOrAdd(name: "Host", value: authority)
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    /// - Returns: nil for a target of another form.
    static func authority(of target: String) -> String? {
        guard let mark = target.firstRange(of: "://") else { return nil }
        guard ["http", "https"].contains(target[..<mark.lowerBound].lowercased()) else { return nil }
        return String(target[mark.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" })
    }
}
