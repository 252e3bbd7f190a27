import BookModel
import BookSync

/// Renders a verification while it is under way: bars on a terminal, and a line for each bad file everywhere.
actor VerificationPrinter {
    private let style: EventPrinter.Style
    private let streams: StandardStreams
    private let display: LiveDisplay?
    private let printsProgress: Bool

    /// - Parameter printsProgress: whether standard output gets the progress as JSON.
    init(style: EventPrinter.Style, streams: StandardStreams, printsProgress: Bool = false) {
        self.printsProgress = printsProgress
        self.style = style
        self.streams = streams
        self.display =
            style.showsBars && !style.isQuiet ? LiveDisplay(words: streams.words, usesColor: style.usesColor) : nil
    }

    /// Hands `body` what takes events, and returns when all of them are printed.
    func printing<Result: Sendable>(
        _ body: @Sendable (@escaping @Sendable (LibraryVerification.Event) -> Void) async throws -> Result
    ) async throws -> Result {
        let (events, continuation) = AsyncStream.makeStream(of: LibraryVerification.Event.self)
        let printing = Task { for await event in events { await self.print(event) } }
        let outcome: Swift.Result<Result, any Error>
        do {
            outcome = .success(try await body { continuation.yield($0) })
        } catch {
            outcome = .failure(error)
        }
        continuation.finish()
        await printing.value
        await display?.close()
        return try outcome.get()
    }

    /// Has results written to the terminal while no bars stand there.
    func aside(_ write: @Sendable () async -> Void) async {
        if let display { await display.aside(write) } else { await write() }
    }

    private func print(_ event: LibraryVerification.Event) async {
        switch event {
        case .progressed(let state):
            await display?.show(state)
            if printsProgress, let document = JSONDocument(.advanced(state.run)) {
                await streams.writeOutput(document.text())
            }
        case .notice(let text): if !style.isQuiet { await say(text) }
        case .checked(let file) where file.verdict != .intact: await say("bad: \(file.file.path): \(file.sentence)")
        case .checked(let file): if style.isVerbose, !style.isQuiet { await say("intact: \(file.file.path)") }
        case .run(let event):
            await display?.apply(event)
            guard !style.isQuiet || event.isFailure, let text = event.sentence(isVerbose: style.isVerbose) else {
                return
            }
            await say(text)
        }
    }

    private func say(_ message: Message) async {
        // Names come from catalogs: nothing in them may steer the terminal.
        if let display {
            await display.log(DisplayWidth.printable(streams.words(message)))
        } else {
            await streams.writeError(message)
        }
    }
}
