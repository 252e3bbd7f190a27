import NIOCore
import NIOPosix

/// Runs tasks on the thread of an event loop that serves nobody else: what a task waits for keeps no server waiting, and no catalog but
/// that of its own run (``TransportOptions/isOfTransfers``). A request that such a task sends uses a connection of the same loop, if there
/// is one, so that a part of a body reaches the task without a change of thread.
package final class LoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    private init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// One loop for each processor. Their threads begin when first asked for, and live as long as the process.
    static let group = MultiThreadedEventLoopGroup(numberOfThreads: System.coreCount)
    package static let all = group.makeIterator().map(LoopExecutor.init)
    /// The one that the caller runs on.
    package static var current: LoopExecutor? { all.first { $0.eventLoop.inEventLoop } }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
