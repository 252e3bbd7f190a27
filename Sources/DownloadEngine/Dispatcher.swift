import BookModel
import Synchronization

/// Hands out the transfers of one run to workers, under one lock, and hears from them and from the publisher what came of them.
///
/// A worker is a task on one of the engine's loops. It does one job after the other as long as there is one, and ends when there is
/// none; whatever changes begins new ones. A worker whose transfer the user stops is cancelled, and another goes on in its place.
///
/// Whoever changes the state may block on the disk or on the journal: all threads that do are the engine's own.
final class Dispatcher: Sendable {
    private let tools: EngineTools
    private let inbox: TransferInbox
    private let state: Mutex<EngineRun>

    /// Seconds between two looks at what the user paused or cancelled, and at the library.
    static let lookInterval = 0.25

    init(_ tools: EngineTools, _ inbox: TransferInbox) {
        (self.tools, self.inbox) = (tools, inbox)
        state = Mutex(EngineRun(tools))
    }

    func run() async -> EngineReport {
        await withTaskCancellationHandler {
            await withTaskExecutorPreference(tools.threads.engine) { await runToTheEnd() }
        } onCancel: {
            later { self.change { $0.isOver = true } }
        }
    }

    private func runToTheEnd() async -> EngineReport {
        await obey()
        inbox.engineIsIdle()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.takeRequests() }
            group.addTask { await self.lookAround() }
            if let seconds = tools.settings.limits.seconds {
                group.addTask {
                    // A cancelled wait just ends early, and means nothing.
                    if (try? await Task.sleep(for: .seconds(seconds))) != nil { self.change { $0.isOver = true } }
                }
            }
            await withCheckedContinuation { waiting in change { $0.waiting = waiting } }
            group.cancelAll()
        }
        return state.withLock { $0.finalReport }
    }

    /// Changes the state, begins what may begin then, and ends the run where nothing is left to do.
    @discardableResult
    private func change<Value: Sendable>(_ body: (inout EngineRun) -> Value) -> Value {
        let (value, waiting) = state.withLock { run in
            let value = body(&run)
            publishReceived(of: &run)
            while let job = run.nextJob() { begin(job, of: &run) }
            armTimer(of: &run)
            if run.isIdle { inbox.engineIsIdle() }
            return (value, run.end())
        }
        waiting?.resume()
        return value
    }

    /// Does something on the engine's thread, after some seconds.
    @discardableResult
    private func later(_ seconds: Double = 0, _ body: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        Task(executorPreference: tools.threads.engine) {
            if seconds > 0 { try? await Task.sleep(for: .seconds(seconds)) }
            if !Task.isCancelled { body() }
        }
    }

    // MARK: What comes from outside

    private func takeRequests() async {
        while await inbox.hasMore() {
            let hasHalted = state.withLock { run in
                run.isTaking = true
                return run.hasHaltedTransfers
            }
            let requests = inbox.takeAll()
            do {
                let stopped = hasHalted ? Set(try await tools.journal.stoppedTransfers().keys) : []
                change { $0.take(requests, stopped: stopped) }
            } catch {
                change { run in
                    run.isTaking = false
                    run.stop(because: EngineRun.publicationFailure(error))
                }
            }
        }
        change { $0.isOpen = false }
    }

    private func lookAround() async {
        while (try? await Task.sleep(for: .seconds(Self.lookInterval))) != nil {
            do {
                try tools.watch.requireSameDisk()
            } catch {
                change { $0.stop(because: EngineRun.publicationFailure(error)) }
            }
            await obey()
            state.withLock { run in for meter in run.meters.values { meter.move() } }
        }
    }

    /// Shows what has begun, and stops what the user paused or cancelled since the last look.
    private func obey() async {
        do {
            let begun = state.withLock { $0.newlyBegun() }
            if !begun.isEmpty { try tools.journal.commit(begun: begun) }
            let stopped = try await tools.journal.stoppedTransfers()
            change { $0.obey(stopped) }
            state.withLock { $0.failedLooks = 0 }
        } catch {
            change { $0.noteFailedLook(error) }
        }
    }

    // MARK: Workers

    private func begin(_ job: EngineJob, of run: inout EngineRun) {
        let (loops, number) = (tools.threads.loops, run.nextWorker)
        let busy = run.workers.values.map(\.loop)
        let loop = loops.indices.min { one, other in busy.count { $0 == one } < busy.count { $0 == other } } ?? 0
        run.nextWorker += 1
        let task = Task(executorPreference: loops[loop]) { await self.work(on: job, as: number) }
        run.workers[number] = EngineRun.Worker(task: task, loop: loop)
        run.assign(job, to: number)
    }

    private func work(on job: EngineJob, as number: Int) async {
        var next: EngineJob? = job
        while let job = next {
            if case .attempt(_, let attempt) = job { attempt.pieces?.whenDivided { self.change { _ in } } }
            let isDone = await job.perform(with: tools)
            next = change { run in
                if let job = isDone(&run) ?? (Task.isCancelled ? nil : run.nextJob()) {
                    run.assign(job, to: number)
                    return job
                }
                run.workers[number] = nil
                return nil
            }
        }
    }

    /// Wakes the dispatcher when the time has come for what only waits for its time.
    private func armTimer(of run: inout EngineRun) {
        guard let wake = run.nextWake(), wake < run.timer?.time ?? .infinity else { return }
        run.timer?.task.cancel()
        let task = later(max(0.001, wake - run.now)) { self.change { $0.timer = nil } }
        run.timer = (wake, task)
    }

    /// Has the next group of received files published: when it is full, when it has waited long enough, or when nothing
    /// is under way that could join it.
    private func publishReceived(of run: inout EngineRun) {
        let files = run.takeReceived()
        guard !files.isEmpty else { return }
        Task(executorPreference: tools.threads.publisher) {
            let outcomes = self.tools.publisher.publish(files.map(\.file))
            self.change { run in
                run.publishing = 0
                for (file, outcome) in zip(files, outcomes) {
                    run.finishPublication(file.index, outcome.mapError(EngineRun.publicationFailure))
                }
            }
        }
    }
}
