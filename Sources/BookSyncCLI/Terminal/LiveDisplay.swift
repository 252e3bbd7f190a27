import BookModel
import BookSync
import Foundation
import LibraryFiles

/// The bars at the foot of the terminal while a run is under way, and the lines that appear above them.
///
/// Only for a terminal (``TerminalCapabilities/showsBars``). It redraws ten times a second at most, follows the
/// terminal's width, and leaves nothing behind once ``close()`` returned. A terminal that went away is no reason to
/// end a run: after a write that failed it draws no more.
package actor LiveDisplay {
    private static let interval = Duration.milliseconds(100)
    /// Without news the speeds and times still change.
    private static let idleInterval = Duration.milliseconds(500)
    private static let fallback = TerminalSize(columns: 80, rows: 24)

    /// Writing to a terminal blocks (for as long as the user holds it with Ctrl-S), so the actor has a thread of
    /// its own and none of the cooperative pool.
    private let executor = SerialQueueExecutor(label: "booksync.terminal")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let descriptor: Int32
    private let words: Wordings
    private let usesColor: Bool
    private let now: @Sendable () -> ContinuousClock.Instant
    private var board = ProgressBoard()
    /// What is shown instead of the board's own count, until something else happens.
    private var counted: ProgressState?
    private var painter = ScreenPainter()
    private var lastDrawn: ContinuousClock.Instant?
    private var hasNews = false
    private var isOver = false
    private var isAside = false
    private var ticker: Task<Void, Never>?
    private var isBroken = false

    /// - Parameter descriptor: of a terminal; it is not closed.
    package init(
        descriptor: Int32 = 2, words: Wordings = Wordings(.english), usesColor: Bool = false,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.descriptor = descriptor
        self.words = words
        self.usesColor = usesColor
        self.now = now
    }

    /// Takes note of an event; what it changes is seen with the next redraw.
    package func apply(_ event: SyncEvent) {
        guard !isOver else { return }
        startTicker()
        switch event {
        case .measured(let state): counted = state
        case .notice, .alert, .detail: break
        default:
            board.apply(event, at: now())
            counted = nil
        }
        hasNews = true
        redraw()
    }

    /// Prints lines above the bars, at once.
    package func log(_ text: String, firstWordIn color: TerminalColor? = nil) {
        let columns = (TerminalSize.current(of: descriptor) ?? Self.fallback).columns
        let lines = DisplayWidth.sentences(text, to: columns).split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
        draw(log: lines, firstWordIn: color, bars: !isOver)
    }

    /// Prints nothing while something else writes to the terminal.
    package func aside(_ write: @Sendable () async -> Void) async {
        draw(bars: false)
        isAside = true
        await write()
        isAside = false
        draw(bars: !isOver)
    }

    /// Removes the bars. Later lines are still printed.
    package func close() {
        guard !isOver else { return }
        ticker?.cancel()
        ticker = nil
        draw(bars: false)
        isOver = true
    }

    private func startTicker() {
        guard ticker == nil else { return }
        ticker = Task { [weak self] in
            while !Task.isCancelled {
                do {
                    try await Task.sleep(for: Self.interval)
                } catch {
                    return
                }
                guard let self else { return }
                await self.redraw()
            }
        }
    }

    private func redraw() {
        guard !isOver, !isAside else { return }
        if let lastDrawn {
            let pause = now() - lastDrawn
            guard pause >= (hasNews ? Self.interval : Self.idleInterval) else { return }
        }
        draw()
    }

    private func draw(log: [String] = [], firstWordIn color: TerminalColor? = nil, bars: Bool = true) {
        guard !isBroken else { return }
        let size = TerminalSize.current(of: descriptor) ?? Self.fallback
        // The last column stays free: some terminals go to the next row as soon as it is written. So do two rows, for
        // the cursor must be able to go up to the first line.
        let state = counted ?? board.state(at: now())
        let lines =
            bars
            ? state.lines(
                width: size.columns - 1 - TerminalEncoding.growth, rows: min(20, max(1, size.rows - 2)), in: words) : []
        write(painter.paint(log: log, firstWordIn: color, lines: lines, width: size.columns, usesColor: usesColor))
        lastDrawn = now()
        hasNews = false
    }

    // MARK: - Writing

    private func write(_ text: String) {
        if StandardStreams.write(text, to: descriptor) != nil { isBroken = true }
    }
}
