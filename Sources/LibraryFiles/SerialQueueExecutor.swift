import Dispatch

/// Runs an actor on a queue of its own, so that its blocking file calls never hold a thread of the cooperative pool.
///
/// A task that prefers the same queue meets the actor without changing threads, which for a body of many parts is most
/// of what a transfer costs beside reading, hashing and writing.
package final class SerialQueueExecutor: SerialExecutor, TaskExecutor {
    private let queue: DispatchQueue

    package init(label: String) {
        queue = DispatchQueue(label: label)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            job.runSynchronously(
                isolatedTo: self.asUnownedSerialExecutor(), taskExecutor: self.asUnownedTaskExecutor())
        }
    }
}
