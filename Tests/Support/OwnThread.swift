import Dispatch

/// A thread for work that computes for seconds on end: on the cooperative pool, which has as many threads as the machine
/// has cores, it would keep all other tests waiting.
package final class OwnThread: TaskExecutor {
    private let queue = DispatchQueue(label: "booksync.test")

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
