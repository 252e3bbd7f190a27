import BookModel
import Transport

// Which transfer starts next, and whether the disk has room for it.

extension DownloadEngine {
    /// Starts the next transfer that may start, if the disk has room for it. Where a file would not even fit alone by the
    /// size that the catalog gives, its server is asked first.
    /// - Returns: false when nothing may start.
    func startNext(of run: inout EngineRun, in group: inout TaskGroup<ChildResult>) async -> Bool {
        guard run.report.stop == nil, let index = run.startNext() else { return false }
        if let failure = await obstacle(toStarting: index, of: run) {
            let alone = [DiskGuard.Load(run.transfers[index])]
            guard failure.isLackOfRoom, await obstacle(to: alone) != nil, run.mayMeasure(index) else {
                if await makesRoom(for: index, of: &run, insteadOf: failure) {
                    start(index, of: &run, in: &group)
                } else {
                    run.end(because: failure, insteadOf: index)
                }
                return true
            }
            let wanted = run.transfers[index].wanted
            let transport = transport.using(wanted.access)
            run.measured = index
            group.addTask { .measured(index, try? await transport.declaredLength(of: wanted.episode)) }
            return false
        }
        start(index, of: &run, in: &group)
        return true
    }

    func startMeasured(
        _ index: Int, _ length: Int64?, of run: inout EngineRun, in group: inout TaskGroup<ChildResult>
    ) async {
        run.measured = nil
        run.transfers[index].declaredLength = length
        if let state = run.transfers[index].stoppedAs {
            run.schedule.end(index)
            await halt(index, as: state, of: &run)
        } else if let failure = await obstacle(to: run.loads),
            await !makesRoom(for: index, of: &run, insteadOf: failure)
        {
            run.end(because: failure, insteadOf: index)
        } else if run.isOver || run.report.stop != nil {
            run.schedule.end(index)
        } else {
            start(index, of: &run, in: &group)
        }
    }

    private func obstacle(toStarting index: Int, of run: EngineRun) async -> Failure? {
        if let failure = run.lackOfRoom(forUnmeasured: index) { return failure }
        return watch.hasRoom(for: run.runningLengths) ? nil : await obstacle(to: run.loads)
    }

    /// Why the disk cannot take these; nil when it can.
    private func obstacle(to loads: [DiskGuard.Load]) async -> Failure? {
        do {
            try await threads.aside { try watch.requireRoom(for: loads) }
            return nil
        } catch {
            return Self.publicationFailure(error)
        }
    }

    /// Frees the room that the transfer lacks beside those under way, where its length is known and all of it can be freed.
    /// What is deleted for that is gone: nobody is asked again once it has been of no use.
    private func makesRoom(for index: Int, of run: inout EngineRun, insteadOf failure: Failure) async -> Bool {
        guard failure.isLackOfRoom, run.transfers[index].length != nil, !run.hasFreedInVain else { return false }
        let loads = run.loads
        do {
            let missing = try await threads.aside { try watch.missingRoom(for: watch.bytesToCome(of: loads)) }
            guard let missing, await makeRoom(missing) else { return false }
        } catch {
            return false
        }
        run.hasFreedInVain = await obstacle(to: loads) != nil
        return !run.hasFreedInVain
    }
}
