import ArgumentParser
import BookModel
import BookSync
import Foundation
import Languages
import Settings
import ShelfQueries
import Terminal

struct QueueCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: .words("List the transfers that are under way, wait, are paused or failed; offline."))

    @OptionGroup var common: CommonOptions

    @Flag(help: .words("Print again every second until interrupted."))
    var watch = false

    func perform(in program: Program) async throws -> ExitStatus {
        let configuration = try await program.libraryConfiguration()
        let isScreen = watch && !common.json && program.capabilities(of: STDOUT_FILENO).showsBars
        var (painter, speeds) = (ScreenPainter(), ObservedSpeeds())
        var isFirst = true
        while true {
            let size = TerminalSize.current(of: STDOUT_FILENO) ?? TerminalSize(columns: 80, rows: 24)
            let look =
                try await ShelfReader.read(configuration.library) { shelf in
                    let episodes = try await shelf.queue(count: isScreen ? size.rows : nil)
                    return Look(
                        episodes: episodes, counts: try await shelf.queueCounts(),
                        titles: try await shelf.titles(of: Set(episodes.map(\.shelved.episode.identity.book))))
                } ?? Look()
            let now = ContinuousClock.now
            speeds.record(look.moving, at: now)
            let table = look.table(program.words) { speeds.bytesPerSecond(of: $0, at: now) }
            if isScreen {
                let style = program.outputStyle
                let lines = look.screen(table, size, style)
                await program.streams.writeOutput(
                    steering: painter.paint(lines: lines, width: size.columns, usesColor: style.usesColor))
            } else if isFirst, !watch, !common.json, !look.moving.isEmpty {
                // How fast something is shows at the second look.
                isFirst = false
                try await Task.sleep(for: .milliseconds(500))
                continue
            } else {
                await program.print(
                    .array(look.episodes.map { JSONDocument($0.shelved, bytesDone: $0.bytesDone) }), or: table)
            }
            guard watch, await !program.streams.isOutputClosed else { return .done }
            try await Task.sleep(for: .seconds(1))
        }
    }
}

/// What the queue holds at one moment.
private struct Look {
    /// The first ones, what moves before the rest.
    var episodes: [ShelfReader.EpisodeOnDisk] = []
    /// Of all.
    var counts: [EpisodeState: Int] = [:]
    var titles: [BookIdentity: String] = [:]

    /// Bytes on disk of what is being downloaded.
    var moving: [EpisodeIdentity: Int64] {
        let moving = episodes.filter { $0.shelved.state == .downloading }
        return Dictionary(moving.map { ($0.shelved.episode.identity, $0.bytesDone) }, uniquingKeysWith: max)
    }

    func table(_ words: Wordings, speed: (EpisodeIdentity) -> Double?) -> TextTable {
        var table = TextTable(columns: [
            .init(title: "book", isFlexible: true), .init(title: "section", alignment: .trailing),
            .init(title: "name", isFlexible: true), .init(title: "state", color: EpisodeState.colors(in: words)),
            .init(title: "bytes", alignment: .trailing, isOptional: true), .init(title: "speed", alignment: .trailing),
            .init(title: "left", alignment: .trailing), .init(title: "why", isFlexible: true),
        ])
        table.rows = episodes.map { episode in
            let (shelved, identity) = (episode.shelved, episode.shelved.episode.identity)
            let bytes = ByteProgress(
                bytesDone: episode.bytesDone, total: episode.total, bytesPerSecond: speed(identity))
            return [
                titles[identity.book] ?? identity.book.id, "\(shelved.episode.section)", shelved.episode.name,
                words(Message(wording: shelved.state.rawValue)), episode.bytesText, bytes.speedText, bytes.timeLeftText,
                shelved.state == .failed ? shelved.transfer?.error.map { words($0) } ?? "" : "",
            ]
        }
        return table
    }

    /// How many are in each state, and as many whole rows as the terminal has room for.
    func screen(_ table: TextTable, _ size: TerminalSize, _ style: OutputStyle) -> [ColoredText] {
        let parts = EpisodeState.allCases.compactMap { state in
            counts[state].map { "\($0) \(Message(wording: state.rawValue))" as Message }
        }
        let summary: Message = parts.isEmpty ? "nothing is being transferred" : parts.joined(separator: ", ")
        var lines = DisplayWidth.wrapped(style.words(summary), to: size.columns).map { ColoredText($0) }
        let entries = table.entries(style)
        // A row stays free for the cursor, and one for what tells of the others.
        let room = size.rows - 2
        var shown = 0
        for entry in entries {
            guard lines.count + entry.count <= room else { break }
            lines += entry
            shown += 1
        }
        // The header is no episode.
        let left = counts.values.reduce(0, +) - max(0, shown - 1)
        let rest: Message = "… and \(left) more"
        return Array((lines + (left > 0 ? [ColoredText(style.words(rest))] : [])).prefix(max(1, size.rows - 1)))
    }
}
