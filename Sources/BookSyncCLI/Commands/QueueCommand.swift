import ArgumentParser
import BookModel
import BookSync
import Foundation
import Settings
import ShelfQueries

struct QueueCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: .words("List the transfers that are under way, wait, are paused or failed; offline."))

    @OptionGroup var common: CommonOptions

    @Flag(help: .words("Print again every second until interrupted."))
    var watch = false

    func perform(in program: Program) async throws -> ExitStatus {
        let configuration = try await program.libraryConfiguration()
        while true {
            let found = try await ShelfReader.read(configuration.library) { shelf in
                let episodes = try await shelf.queue()
                return (
                    episodes: episodes,
                    titles: try await shelf.titles(of: Set(episodes.map(\.shelved.episode.identity.book)))
                )
            }
            let episodes = found?.episodes ?? []
            var lines = ListCommand.lines(episodes, titles: found?.titles, style: program.outputStyle)
            if watch, !program.options.json, isatty(STDOUT_FILENO) == 1 {
                // From the top left corner, with everything below cleared.
                await program.streams.writeOutput(bytes: Array("\u{1B}[H\u{1B}[J".utf8))
                lines = [Self.summary(of: episodes)] + lines
            }
            await program.print(.array(episodes.map { JSONDocument($0.shelved, bytesDone: $0.bytesDone) }), or: lines)
            guard watch, await !program.streams.isOutputClosed else { return .done }
            try await Task.sleep(for: .seconds(1))
        }
    }

    private static func summary(of episodes: [ShelfReader.EpisodeOnDisk]) -> Message {
        let counts = Dictionary(grouping: episodes, by: \.shelved.state).mapValues(\.count)
        let parts = EpisodeState.allCases.compactMap { state in
            counts[state].map { "\($0) \(Message(wording: state.rawValue))" as Message }
        }
        return parts.isEmpty ? "nothing is being transferred" : parts.joined(separator: ", ")
    }
}
