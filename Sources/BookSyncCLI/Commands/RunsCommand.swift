import ArgumentParser
import BookModel
import BookSync
import Foundation
import Settings

struct RunsCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "runs", abstract: .words("List recent runs, the newest last."),
        discussion: .words("The last thousand runs of fetch and mirror are kept. One that was killed shows as cut off.")
    )

    @OptionGroup var common: CommonOptions

    @Option(help: .words("So many runs.", valueName: "n"))
    var last = 20

    func validate() throws {
        if last < 1 { throw ValidationError(.words("--last takes a number from 1 on, not \(last).")) }
    }

    func perform(in program: Program) async throws -> ExitStatus {
        let configuration = try await program.libraryConfiguration()
        let (found, status) = try await program.items(of: configuration) { [last] in try await $0.runs(last: last) }
        var runs = Array(found.joined())
        if configuration.hasSeveralLibraries {
            runs = runs.sorted { $0.record.startedAt < $1.record.startedAt }.suffix(last)
        }
        var table = TextTable(columns: [
            .init(title: "begun"), .init(title: "command", isOptional: true),
            .init(title: "took", alignment: .trailing, isOptional: true),
            .init(title: "exit", alignment: .trailing) { $0 == "0" ? nil : Int($0) == nil ? .yellow : .red },
            .init(title: "books", alignment: .trailing, isOptional: true),
            .init(title: "fetched", alignment: .trailing) { ["0", ""].contains($0) ? nil : .green },
            .init(title: "failures", alignment: .trailing) { ["0", ""].contains($0) ? nil : .red },
            .init(title: "received", alignment: .trailing, isOptional: true),
            .init(title: "first failure", isFlexible: true) { _ in .red },
        ])
        table.rows = runs.map { run in
            let summary = run.record.summary
            let end =
                switch run.state {
                case .ended: run.record.exitCode.map(String.init) ?? ""
                case .underWay: program.words("runs")
                case .cutOff: program.words("cut off")
                }
            let fetched = [summary.fetched, summary.resumed, summary.replaced].saturatedSum(of: \.self)
            // What comes of a run is recorded at its end.
            let counts = run.record.endedAt == nil ? ["", ""] : ["\(fetched)", "\(summary.failed)"]
            let took = run.record.endedAt.map {
                describeSeconds(max(summary.seconds, $0.timeIntervalSince(run.record.startedAt)))
            }
            return [
                describeTime(run.record.startedAt), run.record.command, took ?? "", end,
                "\(run.record.books)", counts[0], counts[1],
                summary.bytesReceived > 0 ? describeBytes(summary.bytesReceived) : "",
                run.record.error.map { program.words($0) } ?? "",
            ]
        }
        table.addLibraries(runs)
        await program.print(.array(runs.map { JSONDocument($0) }), or: table)
        return status
    }
}
