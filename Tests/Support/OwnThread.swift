import Dispatch
import Foundation

/// A thread for work that computes for seconds on end: on the cooperative pool, which has as many threads as the machine
/// has cores, it would keep all other tests waiting.
package final class OwnThread: TaskExecutor {
    private let queue = DispatchQueue(label: "booksync.test")

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Seconds that the thread of the caller has computed; what else the machine does is not counted.
    package static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// How many times the work that something takes grows where its size does fourfold: the least of three tries, for a
    /// machine that does other things as well disturbs some of them.
    /// - Parameter work: does the work of a size, and does not wait.
    package static func growth(from size: Int, _ work: (Int) throws -> Void) rethrows -> Double {
        func seconds(_ size: Int) throws -> Double {
            let tries = try (0..<3).map { _ in
                let start = processorTime
                try work(size)
                return processorTime - start
            }
            return tries.min() ?? 0
        }
        return try seconds(4 * size) / seconds(size)
    }
}
