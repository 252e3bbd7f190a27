import BookModel
import Transport

// Which transfer starts next, and whether the disk has room for it.

extension EngineRun {
    /// What a worker is to do; nil when nothing may begin. Where a file would not even fit alone by the size that the catalog
    /// gives, its server is asked first.
    mutating func nextJob() -> EngineJob? {
        while mayStart, let index = startNext() {
            guard let failure = obstacle(toStarting: index) else { return start(index) }
            // The size in the catalog may be wrong. Once a server has confirmed that there is no room, the others are believed.
            let transfer = transfers[index]
            if failure.isLackOfRoom, obstacle(to: [transfer]) != nil, lackOfRoom == nil, transfer.record.total == nil,
                transfer.declaredLength == nil
            {
                measured = index
                return .measure(index, transfer.wanted.episode, transfer.wanted.access)
            }
            if let job = makeRoom(for: index, insteadOf: failure) { return job }
        }
        return mayStart ? assignSlot() : nil
    }

    mutating func assign(_ job: EngineJob, to worker: Int) {
        if case .attempt(let index, _) = job { transfers[index].worker = worker }
    }

    private mutating func start(_ index: Int) -> EngineJob {
        if transfers[index].startedAt == nil { transfers[index].startedAt = .now }
        let transfer = transfers[index]
        let meter = TransferMeter(transfer.wanted, emit: tools.emit)
        meters[index] = meter
        // A server that contradicted itself once is not asked for pieces again. Where nobody knows the length, the partial file may.
        let isDivided = !transfer.hasStartedOver && transfer.length ?? .max >= tools.settings.minDividedLength
        let attempt = TransferAttempt(transfer, at: index, isDivided: isDivided, meter: meter, tools: tools)
        transfers[index].pieces = attempt.pieces
        return .attempt(index, attempt)
    }

    mutating func finishMeasuring(_ index: Int, _ length: Int64?) -> EngineJob? {
        measured = nil
        transfers[index].declaredLength = length
        if let failure = obstacle(to: running) { return makeRoom(for: index, insteadOf: failure) }
        return startUnlessStopped(index)
    }

    mutating func finishMakingRoom(for index: Int, isFreed: Bool, insteadOf failure: Failure) -> EngineJob? {
        measured = nil
        // What is deleted for that is gone: nobody is asked again once it has been of no use.
        if isFreed { hasFreedInVain = obstacle(to: running) != nil }
        guard isFreed, !hasFreedInVain else {
            end(because: failure, insteadOf: index)
            return nil
        }
        return startUnlessStopped(index)
    }

    private mutating func startUnlessStopped(_ index: Int) -> EngineJob? {
        if transfers[index].stoppedAs == nil, goesOn { return start(index) }
        schedule.end(index)
        _ = halt(index)
        return nil
    }

    /// Where there was no room for something, nothing of unknown length is begun either.
    private mutating func obstacle(toStarting index: Int) -> Failure? {
        guard let length = transfers[index].length else { return lackOfRoom ?? obstacle(to: running) }
        // The last look found room for this one as well.
        if length <= spareRoom.bytes, now < spareRoom.end {
            spareRoom.bytes -= length
            return nil
        }
        let room = room(for: running)
        spareRoom = ((try? room.get()) ?? 0, now + Dispatcher.lookInterval)
        return room.failure
    }

    /// Why the disk cannot take these; nil when it can.
    private func obstacle(to transfers: [Transfer]) -> Failure? { room(for: transfers).failure }

    /// Bytes for which there is room besides these, or why there is none for them.
    private func room(for transfers: [Transfer]) -> Result<Int64, Failure> {
        Result { try tools.watch.requireRoom(for: transfers) }.mapError(Self.publicationFailure)
    }

    /// Frees the room that the transfer lacks beside those under way, where its length is known and all of it can be freed.
    /// - Returns: nil where that is not so; the transfer is given up then.
    private mutating func makeRoom(for index: Int, insteadOf failure: Failure) -> EngineJob? {
        guard failure.isLackOfRoom, transfers[index].length != nil, !hasFreedInVain,
            let missing = try? tools.watch.missingRoom(for: tools.watch.bytesToCome(of: running))
        else {
            end(because: failure, insteadOf: index)
            return nil
        }
        measured = index
        return .makeRoom(index, missing, failure)
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}
