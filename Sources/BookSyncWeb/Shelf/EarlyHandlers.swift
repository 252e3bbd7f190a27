import NIOCore
import NIOHTTP1
import NIOSSL

/// Puts handlers before those that the server adds, which adds others only further on: TLS before all that a connection has, and
/// ``AbsoluteFormHandler`` behind the decoder, where requests are still as they came.
final class EarlyHandlers: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let certificate: ServerCertificate?

    /// - Parameter certificate: nil for none, and no TLS.
    init(_ certificate: ServerCertificate?) {
        self.certificate = certificate
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        do {
            if let certificate {
                try pipeline.addHandler(NIOSSLServerHandler(context: certificate.context), position: .first)
            }
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(AbsoluteFormHandler(), position: .after(decoder))
        } catch {
            context.close(promise: nil)
        }
    }
}
