import BookModel
import BookSync
import Foundation
import Synchronization

/// Renders a run's events: JSON lines on standard output, bars on a terminal, plain lines elsewhere.
actor EventPrinter {
    struct Style: Sendable {
        var isJSON = false
        var isQuiet = false
        var isVerbose = false
        var showsBars = false
        var usesColor = false
        /// Whether the lines are coloured and long waits have one, as those of a run.
        var isOfRun = true
        /// A log that runs are told to as well.
        var log: EventLog?

        /// Whether anybody is told of it.
        func shows(_ event: SyncEvent) -> Bool {
            isJSON || log != nil || !isQuiet || event.isFailure
        }
    }

    private let style: Style
    private let streams: StandardStreams
    private let display: LiveDisplay?
    /// The events that wait to be printed.
    private let waiting = Mutex<[SyncEvent]>([])
    /// The events that are being printed.
    private var lastBatch: Task<Void, Never>?
    private var recap = RunRecap()
    private var lastProgress: [EpisodeIdentity: ContinuousClock.Instant] = [:]
    /// Until when it is known that something is waited for, by the server that asked for it.
    private var knownWaits: [String: ContinuousClock.Instant] = [:]

    init(style: Style, streams: StandardStreams) {
        self.style = style
        self.streams = streams
        self.display =
            style.showsBars && !style.isQuiet ? LiveDisplay(words: streams.words, usesColor: style.usesColor) : nil
    }

    /// Between two looks at what is to be printed: waking up for each event of thousands of small files would cost more
    /// than the files do.
    private static let interval = Duration.milliseconds(20)

    /// Hands `body` what takes events, and returns when all of them are printed.
    func printing<Result: Sendable>(
        _ body: @Sendable (@escaping @Sendable (SyncEvent) -> Void) async throws -> Result
    ) async throws -> Result {
        let (news, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let printing = Task {
            for await _ in news {
                await self.printWaiting()
                do { try await Task.sleep(for: Self.interval) } catch { return }
            }
        }
        let outcome = await Swift.Result.of { @Sendable in
            try await body { event in
                guard self.style.shows(event) else { return }
                self.waiting.withLock { $0.append(event) }
                signal.yield()
            }
        }
        printing.cancel()
        await printing.value
        await printWaiting()
        await display?.close()
        return try outcome.get()
    }

    /// Returns when all events so far are printed, one after the other whoever asked for them.
    private func printWaiting() async {
        let task = Task { [before = lastBatch] in
            await before?.value
            let events = waiting.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
            for event in events { await print(event) }
        }
        lastBatch = task
        await task.value
    }

    /// Has results written behind the events before them, and to a terminal while no bars are there.
    func aside(_ write: @Sendable () async -> Void) async {
        await printWaiting()
        if let display { await display.aside(write) } else { await write() }
    }

    /// Prints the last word of a run; on a terminal also what was renamed and what failed, which has scrolled by.
    func finish(_ summary: RunSummary, exitStatus: ExitStatus) async {
        style.log?.record(.summarised(summary))
        if style.isJSON, let document = JSONDocument(.summarised(summary), exitCode: Int(exitStatus.rawValue)) {
            await streams.writeOutput(document.text())
        }
        if display != nil, !style.isJSON {
            let width = TerminalSize.current(of: STDERR_FILENO)?.columns
            for line in recap.lines(OutputStyle(width: width, usesColor: style.usesColor, words: streams.words)) {
                await streams.writeError(line, usesColor: style.usesColor)
            }
        }
        // Only the summary reports what is left; after an interruption that is no news.
        let isMissed = summary.failed > 0 || summary.left > 0 && exitStatus != .done && exitStatus.rawValue < 128
        if !style.isQuiet || isMissed { await streams.writeError(summary.sentence) }
    }

    private func print(_ event: SyncEvent) async {
        style.log?.record(event)
        if style.isJSON, isDue(event), let document = JSONDocument(event) {
            await streams.writeOutput(document.text())
        }
        await display?.apply(event)
        recap.record(event)
        if display == nil, style.isOfRun, !style.isQuiet, case .waiting(_, let wait?) = event,
            let sentence = news(of: wait)
        {
            await streams.writeError(sentence)
        }
        // With JSON on standard output, what went well is told there.
        guard !style.isQuiet || event.isFailure, let sentence = event.sentence(isVerbose: style.isVerbose) else {
            return
        }
        if style.isJSON, event.isReported { return }
        let color = style.usesColor && style.isOfRun ? event.color : nil
        if let display {
            await display.log(streams.words(sentence), firstWordIn: color)
        } else {
            await streams.writeError(sentence, firstWordIn: color)
        }
    }

    /// Seconds of a wait that is told where no bars show it.
    private static let longWait = 30.0

    /// That a run waits long, told once for each server; nil where that is known, or the wait is short.
    private func news(of wait: Wait) -> Message? {
        guard let seconds = wait.seconds, seconds >= Self.longWait else { return nil }
        let (name, now) = (wait.server ?? wait.name, ContinuousClock.now)
        if let end = knownWaits[name], end > now { return nil }
        knownWaits[name] = now + .seconds(seconds)
        return "waiting \(describeSeconds(seconds)) for \(name): \(wait.reason)"
    }

    /// Two progress lines a second for each transfer are enough for any reader.
    private func isDue(_ event: SyncEvent) -> Bool {
        guard case .progressed(let progress) = event else { return true }
        let now = ContinuousClock.now
        if let last = lastProgress[progress.episode], now - last < .milliseconds(500) { return false }
        lastProgress[progress.episode] = now
        return true
    }
}
