import ArgumentParser
import BookModel
import BookSync
import Foundation
import Settings

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
            let (looks, status) = try await program.ask(configuration) { own, _ in
                try await ShelfReader.read(own.library) { shelf in
                    let episodes = try await shelf.queue(count: isScreen ? size.rows : nil)
                    return Look(
                        episodes: episodes.named(own, of: configuration), counts: try await shelf.queueCounts(),
                        requests: try await shelf.requests(),
                        titles: try await shelf.titles(of: Set(episodes.map(\.shelved.episode.identity.book))))
                } ?? Look()
            }
            let look = Look(merging: looks.answers.map(\.value))
            let now = ContinuousClock.now
            speeds.record(look.moving, at: now)
            let table = look.table(program.words) { [speeds] in speeds.bytesPerSecond(of: $0, at: now) }
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
                    .array(look.episodes.map { JSONDocument($0) }), or: table,
                    then: [look.requests.summary].compactMap(\.self))
            }
            guard watch, await !program.streams.isOutputClosed else { return status }
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
    /// What was asked for and no run has done.
    var requests: [StoredRequest] = []
    var titles: [BookIdentity: String] = [:]
}

extension Look {
    /// What several libraries have in their queues, each in its order: what moves before the rest.
    init(merging looks: [Look]) {
        guard looks.count != 1 else {
            self = looks[0]
            return
        }
        for look in looks {
            counts.merge(look.counts) { $0 + $1 }
            requests += look.requests
            titles.merge(look.titles) { first, _ in first }
        }
        let order: [EpisodeState] = [.downloading, .waiting, .paused, .failed]
        let rows = looks.flatMap(\.episodes).map {
            (rank: order.firstIndex(of: $0.shelved.state) ?? order.count, episode: $0)
        }
        episodes = rows.sorted {
            let (one, other) = ($0.episode.shelved.episode, $1.episode.shelved.episode)
            return ($0.rank, one.identity.book, one.section) < (
                $1.rank, other.identity.book, other.section
            )
        }.map(\.episode)
    }

    /// Bytes on disk of what is being downloaded.
    var moving: [EpisodeIdentity: Int64] {
        let moving = episodes.filter { $0.shelved.state == .downloading }
        return Dictionary(moving.map { ($0.shelved.episode.identity, $0.bytesDone) }, uniquingKeysWith: max)
    }

    func table(_ words: Wordings, speed: @escaping @Sendable (EpisodeIdentity) -> Double?) -> TextTable {
        @Sendable func progress(_ episode: ShelfReader.EpisodeOnDisk) -> ByteProgress {
            ByteProgress(
                bytesDone: episode.bytesDone, total: episode.total,
                bytesPerSecond: speed(episode.shelved.episode.identity))
        }
        return episodes.table([
            .book(titles),
            .init(title: "section", .trailing) { "\($0.shelved.episode.section)" },
            .init(title: "name", isFlexible: true) { $0.shelved.episode.name },
            .init(title: "state", color: EpisodeState.colors(in: words)) {
                words(Message(wording: $0.shelved.state.rawValue))
            },
            .init(title: "bytes", .trailing, isOptional: true) { $0.bytesText },
            .init(title: "speed", .trailing) { progress($0).speedText },
            .init(title: "left", .trailing) { progress($0).timeLeftText },
            .init(title: "why", isFlexible: true) { episode in
                episode.shelved.state == .failed ? episode.shelved.transfer?.error.map { words($0) } ?? "" : ""
            },
        ]).withLibraries(of: episodes)
    }

    /// How many are in each state, and as many whole rows as the terminal has room for.
    func screen(_ table: TextTable, _ size: TerminalSize, _ style: OutputStyle) -> [ColoredText] {
        let parts = EpisodeState.allCases.compactMap { state in
            counts[state].map { "\($0) \(Message(wording: state.rawValue))" as Message }
        }
        let summary: Message = parts.isEmpty ? "nothing is being transferred" : parts.joined(separator: ", ")
        var lines = [summary, requests.summary].compactMap(\.self)
            .flatMap { DisplayWidth.wrapped(style.words($0), to: size.columns) }.map { ColoredText($0) }
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
