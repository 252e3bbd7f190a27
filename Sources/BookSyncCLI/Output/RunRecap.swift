import BookModel
import BookSync

/// What scrolled by while a run was under way, and what the user may do about it.
struct RunRecap {
    private static let maxRows = 10

    private var renames: [(from: String, to: String)] = []
    private var failures: [FailureReport] = []
    /// Whether other lines followed the first failure.
    private var isFollowed = false

    mutating func record(_ event: SyncEvent) {
        switch event {
        case .renamed(_, let from, let to): renames.append((from, to))
        case .failed(let report): failures.append(report)
        default: isFollowed = isFollowed || !failures.isEmpty && event.sentence(isVerbose: false) != nil
        }
    }

    /// The lines in the width of the terminal, whole; none where there is nothing to tell that is not just above them.
    func lines(_ style: OutputStyle) -> [ColoredText] {
        var lines: [ColoredText] = []
        func add(_ message: Message, indent: Int, _ color: TerminalColor? = nil) {
            let (text, spaces) = (style.words(message), String(repeating: " ", count: indent))
            let parts = style.width.map { DisplayWidth.wrapped(text, to: $0 - indent) } ?? [text]
            lines += parts.map { part in
                var line = ColoredText(spaces)
                line.append(part, color)
                return line
            }
        }
        if !renames.isEmpty {
            add("\(Message(renames.count, "file")) renamed:", indent: 0, .green)
            for rename in renames.prefix(Self.maxRows) { add("\(rename.from) → \(rename.to)", indent: 2) }
            if renames.count > Self.maxRows { add("… and \(renames.count - Self.maxRows) more", indent: 2) }
            add("booksync undo takes this back", indent: 4)
        }
        guard isFollowed || failures.count > 1 || failures.contains(where: { $0.failure.remedy == nil }) else {
            return lines
        }
        add("\(failures.count) failed:", indent: 0, .red)
        for report in failures.prefix(Self.maxRows) {
            let sentence: Message = "\(report.failure.what): \(report.failure.why)"
            add(report.episodeReference.map { "\($0): \(sentence)" } ?? sentence, indent: 2)
            add(report.nextStep, indent: 4)
        }
        if failures.count > Self.maxRows {
            add("… and \(failures.count - Self.maxRows) more; booksync list --state failed lists the books", indent: 2)
        }
        return lines
    }
}

extension FailureReport {
    /// What the user may do about it.
    var nextStep: Message {
        if let remedy = failure.remedy { return remedy }
        guard let reference = episodeReference ?? book.map({ "\($0)" }) else { return "booksync doctor tells more" }
        return "booksync fetch \(reference) tries again"
    }

    /// By which a command names the episode; nil where it is about none.
    fileprivate var episodeReference: String? {
        guard let episode, let section else { return nil }
        return BookReference.example(section, of: episode.book)
    }
}
