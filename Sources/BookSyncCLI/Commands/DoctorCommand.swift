import ArgumentParser
import AudioFiles
import BookModel
import BookSync
import Foundation
import LibraryFiles
import Settings

struct DoctorCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: .words("Check configuration, library, store, free space and sources; changes nothing."),
        discussion: .words(
            """
            One line each: ok, warning or problem, what was found, and what to do about it. Exits with the code of the \
            problem that most needs a person, and with 0 when there are warnings only. Each source is asked once, for ten \
            seconds at most. With --quiet what is ok is left out.
            """))

    @OptionGroup var common: CommonOptions

    func perform(in program: Program) async throws -> ExitStatus {
        let findings = try await program.findings()
        let status = ExitStatus(of: findings)
        let shown = program.options.quiet ? findings.filter { $0.status != .ok } : findings
        guard !program.options.json else {
            let checks = JSONDocument.array(shown.map { JSONDocument($0) })
            await program.print(["checks": checks, "exit_code": .init(Int(status.rawValue))], or: [])
            return status
        }
        let usesColor = program.capabilities(of: STDOUT_FILENO).usesColor
        for finding in shown {
            await program.streams.writeOutput(
                sentence: Self.line(finding, program.words), firstWordIn: usesColor ? finding.status.color : nil)
        }
        return status
    }

    private static func line(_ finding: Finding, _ words: Wordings) -> String {
        let status = DisplayWidth.fit(words(Message(wording: finding.status.rawValue)), to: 8)
        let found: Message = "\(finding.check): \(finding.message)"
        return DisplayWidth.printable("\(status) \(words(finding.remedy.map { "\(found); \($0)" } ?? found))")
    }
}

extension Finding.Status {
    fileprivate var color: TerminalColor {
        switch self {
        case .ok: .green
        case .warning: .yellow
        case .problem: .red
        }
    }
}

extension ExitStatus {
    /// That of the problem that most needs a person; warnings are none.
    fileprivate init(of findings: [Finding]) {
        self.init(kinds: findings.compactMap { $0.status == .problem ? $0.kind : nil })
    }
}

extension Program {
    /// What is found wrong, and right.
    /// - Parameter asksSources: whether catalogs are asked as well.
    func findings(asksSources: Bool = true) async throws -> [Finding] {
        do {
            let (loaded, check) = try await runBlocking {
                let loaded = try loadedConfiguration()
                return (loaded, try ConfigurationCheck { loaded })
            }
            // What a subscription's address leads to is found out as a run finds it out.
            let configuration =
                if asksSources {
                    try await loaded.configuration.recognising([], andSubscriptions: true, logger: logger)
                } else {
                    try await loaded.configuration.knowing([])
                }
            let findings = try await configuration.diagnosed(
                check, knownLibraries: knownLibraries, asksSources: asksSources, logger: logger)
            return findings + [audioFinding(loaded.configuration)].compactMap(\.self)
        } catch let failure as Failure where failure.kind == .configuration {
            // Which library and which sources are meant is not known then.
            return [failure.asFinding]
        }
    }

    /// Whether runs can look into audio files; nil where they are not to.
    private func audioFinding(_ configuration: Configuration) -> Finding? {
        guard configuration.downloads.probe == .auto else { return nil }
        guard let tools = mediaTools else {
            return .ok("audio", "durations, chapters and tags are not read from the files: ffprobe is not installed")
        }
        return .ok(
            "audio",
            tools.ffmpeg == nil
                ? "read by \(tools.ffprobe); whether a file is whole cannot be found out: ffmpeg is not installed"
                : "read by \(tools.ffprobe)")
    }
}
