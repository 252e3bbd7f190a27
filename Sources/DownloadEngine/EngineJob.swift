import BookModel
import Transport

/// What a worker does next.
enum EngineJob: Sendable {
    /// What becomes of the run's state; returns what the same worker goes on with.
    typealias Result = @Sendable (inout EngineRun) -> EngineJob?

    /// One try at a transfer.
    case attempt(Int, TransferAttempt)
    /// A piece of a large file that another worker brings.
    case help(Int, SegmentedDownload)
    /// How long a file is by its server's word.
    case measure(Int, Episode, SourceAccess)
    /// So many bytes are to be freed for a transfer, which else fails so.
    case makeRoom(Int, Int64, Failure)
    /// Another address for an episode, from the catalog; else the failure stands.
    case renew(Int, @Sendable () async throws -> ResourceAddress?, Failure)

    func perform(with tools: EngineTools) async -> Result {
        switch self {
        case .attempt(let index, var attempt):
            let result = await attempt.run()
            return { $0.finishAttempt(index, result) }
        case .help(let index, let pieces):
            let busy = await pieces.help()
            return { run in
                run.schedule.giveBack(of: index)
                if let busy { run.holdServer(of: index, because: busy) }
                return nil
            }
        case .measure(let index, let episode, let access):
            let length = try? await tools.transport.using(access).declaredLength(of: episode)
            return { $0.finishMeasuring(index, length) }
        case .makeRoom(let index, let bytes, let failure):
            let isFreed = await tools.makeRoom(bytes)
            return { $0.finishMakingRoom(for: index, isFreed: isFreed, insteadOf: failure) }
        case .renew(let index, let renew, let failure):
            var outcome: Swift.Result<ResourceAddress, Failure> = .failure(failure)
            do {
                if let address = try await renew() { outcome = .success(address) }
            } catch {
                if let cause = error as? Failure {
                    let why: Message = "\(failure.why), and a new address could not be had: \(cause.why)"
                    outcome = .failure(Failure(failure.kind, what: failure.what, why: why, remedy: failure.remedy))
                }
            }
            return { [outcome] in $0.finishRenewal(index, outcome) }
        }
    }
}
