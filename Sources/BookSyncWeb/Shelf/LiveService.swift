import BookSync
import ServiceLifecycle
import ShelfService

/// Keeps what happens on the shelf in sight while the server runs.
struct LiveService: Service {
    let live: LiveShelf

    func run() async throws {
        await cancelWhenGracefulShutdown { await live.work() }
    }
}
