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
        await program.print(
            .array(runs.map { JSONDocument($0) }), or: Self.table(runs, program.words).withLibraries(of: runs))
        return status
    }

    private static func table(_ runs: [ShownRun], _ words: Wordings) -> TextTable {
        runs.table([
            .init(title: "begun") { describeTime($0.record.startedAt) },
            .init(title: "command", isOptional: true) { $0.record.command },
            .init(title: "took", .trailing, isOptional: true) { run in
                guard let end = run.record.endedAt else { return "" }
                return describeSeconds(max(run.record.summary.seconds, end.timeIntervalSince(run.record.startedAt)))
            },
            .init(title: "exit", .trailing, color: { $0 == "0" ? nil : Int($0) == nil ? .yellow : .red }) { run in
                switch run.state {
                case .ended: run.record.exitCode.map(String.init) ?? ""
                case .underWay: words("runs")
                case .cutOff: words("cut off")
                }
            },
            .init(title: "books", .trailing, isOptional: true) { "\($0.record.books)" },
            // What comes of a run is recorded at its end.
            .init(title: "fetched", .trailing, color: { ["0", ""].contains($0) ? nil : .green }) { run in
                let summary = run.record.summary
                let fetched = [summary.fetched, summary.resumed, summary.replaced].saturatedSum(of: \.self)
                return run.record.endedAt == nil ? "" : "\(fetched)"
            },
            .init(title: "failures", .trailing, color: { ["0", ""].contains($0) ? nil : .red }) { run in
                run.record.endedAt == nil ? "" : "\(run.record.summary.failed)"
            },
            .init(title: "received", .trailing, isOptional: true) { run in
                let bytes = run.record.summary.bytesReceived
                return bytes > 0 ? describeBytes(bytes) : ""
            },
            .init(title: "first failure", isFlexible: true, color: { _ in .red }) {
                $0.record.error.map { words($0) } ?? ""
            },
        ])
    }
}
