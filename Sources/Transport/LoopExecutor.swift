import NIOCore
import NIOPosix

/// Runs tasks on the thread of an event loop that does nothing else: what a task waits for keeps no server and no catalog waiting.
/// A request that such a task sends uses a connection of the same loop, so that a part of a body reaches the task without a
/// change of thread.
package final class LoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    private init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// One for each processor. Their threads begin when first asked for, and live as long as the process.
    package static let all = MultiThreadedEventLoopGroup(numberOfThreads: System.coreCount).makeIterator()
        .map(LoopExecutor.init)

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
