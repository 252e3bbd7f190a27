import Hummingbird
import Logging
import NIOCore

/// What is known of a request beside what it says itself.
struct ShelfContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The numeric address of the client; nil at a Unix socket.
    let client: String?
    /// Of the connection.
    let eventLoop: any EventLoop

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        client = source.channel.remoteAddress?.ipAddress
        eventLoop = source.channel.eventLoop
    }
}
