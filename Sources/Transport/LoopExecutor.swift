import NIOCore
import NIOPosix

/// Runs tasks on the thread of an event loop. A request that such a task sends uses a connection of the same loop where
/// one is free, so that a part of a body reaches the task without a change of thread.
package final class LoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    private init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// One for each event loop of the transport's.
    package static let all = MultiThreadedEventLoopGroup.singleton.makeIterator().map(LoopExecutor.init)

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
