import BookModel
import BookSync
import Foundation
import Hummingbird
import LibraryFiles
import Logging
import NIOCore
import ServiceLifecycle
import Settings
import Transport

/// The shelf over HTTP: audio, podcast feeds, a catalog for other booksyncs, and what the command line prints as JSON.
///
/// What a client may cost is limited: the size of its requests, their number, and the time it takes.
package struct ShelfServer: Sendable {
    /// What clients may cost.
    package struct Limits: Sendable {
        /// At once; others are closed.
        package var connections = 256
        /// Bytes of one field of a request, and of all of them.
        package var field = 8 << 10
        package var fields = 32 << 10
        /// For a whole request to come, and until the next one on the same connection.
        package var request = Duration.seconds(30)
        /// For a client to take the next part of an answer.
        package var stall = Duration.seconds(60)
        /// For answers under way to come to their end when the server stops.
        package var grace = Duration.seconds(5)
    }

    private let site: ServerContext
    private let target: ListenTarget
    private let limits: Limits
    private let services: [any Service]
    private let certificate: ServerCertificate?

    /// - Parameters:
    ///   - basePath: put before all paths; empty, or with a slash in front and none at its end.
    ///   - publicURL: the server's own address as clients know it, base path included; nil for what each of them says.
    ///   - users: those with a name, where they are known already; without them nobody is let in before they were read.
    ///   - pages: for people; nil for none.
    ///   - certificate: to speak TLS with; nil for plain HTTP.
    ///   - mirrorInterval: seconds between two runs over all subscriptions; nil for none.
    ///   - logger: hears of requests that failed; nil for nobody.
    ///   - changedSettings: those of who is let in, where they changed since they were last asked for.
    package init(
        _ configuration: Configuration, at target: ListenTarget, basePath: String = "", publicURL: String? = nil,
        limits: Limits = Limits(), users: [User]? = nil, pages: ShelfPages? = nil,
        certificate: ServerCertificate? = nil, mirrorInterval: Double? = nil,
        logger: Logger? = nil, changedSettings: @escaping @Sendable () async -> ServeSettings? = { nil }
    ) {
        let shelf = pages?.wholeShelf ?? ServedShelf(configuration)
        let logger = logger ?? Logger(label: "booksync.serve") { _ in SwiftLogNoOpLogHandler() }
        let live = LiveShelf(libraries: configuration.libraries.map(\.path), logger: logger)
        site = ServerContext(
            shelf: shelf, basePath: basePath, publicURL: publicURL,
            hosts: HostRule(target: target, publicURL: publicURL, hosts: configuration.serve.hosts),
            isSecure: certificate != nil,
            access: Authenticator(
                configuration.serve, library: configuration.library, users: users, logger: logger,
                changed: changedSettings),
            pages: pages, live: live, logger: logger)
        self.target = target
        self.limits = limits
        self.certificate = certificate
        var services =
            [BackgroundWork { await live.work() }]
            // A run that is cut off when the server stops keeps everything.
            + shelf.desks.map { desk in BackgroundWork { await desk.work() } }
        if let certificate {
            services.append(
                BackgroundWork { while (try? await Task.sleep(for: .seconds(5))) != nil { await certificate.renew() } })
        }
        if let mirrorInterval {
            let timer = MirrorTimer(desks: shelf.desks, interval: mirrorInterval)
            services.append(BackgroundWork { await timer.work() })
        }
        self.services = services
    }

    /// What is answered at which path, and who may have it.
    var routes: ShelfRoutes { ShelfRoutes(site: site, bodyTime: limits.request) }

    /// Serves until the task is cancelled. Then nobody new is let in, and what is being answered is answered to its end,
    /// for as long as ``Limits/grace`` allows.
    /// - Parameter onRunning: told where the server is, as soon as requests are answered.
    /// - Throws: ``Failure`` of kind `inputOutput` when it cannot be listened on.
    package func run(onRunning: @escaping @Sendable (String) async -> Void) async throws {
        ConnectionTypes.make()
        if case .socket(let path) = target { try await SocketPath.requireFree(path) }
        let application = application { await onRunning(address(of: $0)) }
        var configuration = ServiceGroupConfiguration(services: services + [application], logger: application.logger)
        configuration.maximumGracefulShutdownDuration = limits.grace
        let group = ServiceGroup(configuration: configuration)
        // A task of its own: the cancellation of this one must not cut off what is being answered.
        let serving = Task { try await group.run() }
        let outcome = await withTaskCancellationHandler {
            await serving.result
        } onCancel: {
            Task { await group.triggerGracefulShutdown() }
        }
        // Not by this task, which may be cancelled.
        await Task { await site.shelf.finishCopies() }.value
        // Whatever it ends with when it was told to end, that is how it ends.
        if Task.isCancelled { return }
        if case .failure(let error) = outcome { throw Failure.cannotListen(on: target.description, error) }
    }

    private func application(
        onRunning: @escaping @Sendable (any Channel) async -> Void
    ) -> Application<RouterResponder<ShelfContext>> {
        let stall = TimeAmount(limits.stall)
        let connections = ConnectionLimit(limits.connections)
        var quiet = site.logger
        // What ends the server is an error to the log of those that serve.
        quiet.logLevel = .critical
        return Application(
            responder: routes.router().buildResponder(),
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [
                        ConnectionSetup(certificate), ConnectionLimitHandler(connections),
                        IdleStateHandler(writeTimeout: stall), StalledAnswerHandler(),
                    ],
                    idleTimeout: TimeAmount(limits.request),
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: limits.field, maxHeaderListSize: limits.fields, maxHeaderFieldCount: 100))),
            configuration: ApplicationConfiguration(address: target.bindAddress),
            onServerRunning: onRunning, logger: quiet)
    }

    private func address(of channel: any Channel) -> String {
        guard case .address(let asked) = target else { return target.description }
        let address = ListenAddress(host: asked.host, port: channel.localAddress?.port ?? asked.port)
        return site.root(of: address.description)
    }
}

extension Failure {
    package static func cannotListen(on target: String, _ error: any Error) -> Failure {
        let why = (error as? IOError).map { Message(errno: $0.errnoCode) } ?? Message(cause: error)
        return Failure(
            .inputOutput, disposition: .stop, what: "cannot listen on \(target)", why: why,
            remedy: "choose another address with --listen")
    }
}

/// Goes on until the server stops.
private struct BackgroundWork: Service {
    let work: @Sendable () async -> Void

    func run() async throws {
        await cancelWhenGracefulShutdown { await work() }
    }
}
