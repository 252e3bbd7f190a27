import BookModel
import BookSync
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// What is known of a request beside what it says itself; on its way to the handler the middleware adds to it.
struct ShelfContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The numeric address at the other end of the connection; nil at a Unix socket.
    let peer: String?
    /// Of the connection.
    let eventLoop: any EventLoop
    let bodyState = BodyState()
    /// Of the path, behind the base path; never decoded. A path that ends with a slash ends with an empty part.
    var parts: [String] = []
    var caller = Caller()
    var asked = Route.page
    /// What a POST brought, and what it means where it is a form.
    var body: [UInt8] = []
    var form = FormFields()

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        peer = source.channel.remoteAddress?.ipAddress
        eventLoop = source.channel.eventLoop
    }

    /// A part of the path, by the name that the route gives it.
    subscript(_ name: String) -> String { parameters.get(name) ?? "" }
}

/// Looks at a request on its way to the handler, or at the response on its way back.
protocol ShelfMiddleware: RouterMiddleware<ShelfContext> {
    typealias Next = (Request, ShelfContext) async throws -> Response
}

/// Who sent a request, and what it proves.
struct Caller: Sendable {
    /// But for the form's token, which is not looked at before there is a body.
    var proof = RequestCredentials()
    var user = User.owner
    /// What tells the browser apart from others where it has no session.
    var visit = ""
    var view = ClientView(authority: "", basePath: "", publicURL: nil)
    /// Numeric; as the proxy tells where one is set up. Nil at a Unix socket.
    var client: String?
    /// Where the things of the shelf are to be had by this client.
    var addresses = ShelfAddresses(root: "")
}

/// Whether the body of a request was read to its end.
final class BodyState: Sendable {
    private let read = Atomic(false)

    var isRead: Bool { read.load(ordering: .relaxed) }

    func setRead() { read.store(true, ordering: .relaxed) }
}
