import Foundation

/// The same files fetched by several programs, in turns, so that what else the machine does befalls all alike.
struct Contest {
    /// A program, by the command that fetches the files into an empty folder.
    struct Contestant {
        let name: String
        /// What is done with the folder afterwards, whose time is counted beside; nil for nothing.
        var afterwards: ((_ target: String) -> [String])?
        let command: (_ target: String) throws -> [String]
    }

    let setting: Setting
    let files: Int
    let bytes: Int
    /// Where they bring the files, each run into a folder of its own: ext4 would search past what was deleted. Nil for memory.
    var folder: String?
    /// Connections made up to now, where somebody counts them.
    var connections: () throws -> Int = { 0 }

    func run(_ contestants: [Contestant]) throws -> [Score] {
        var scores = contestants.map { Score(name: $0.name, bytes: files * bytes) }
        for run in 1...setting.runs {
            record("  run \(run) of \(setting.runs)")
            for (index, contestant) in contestants.enumerated() {
                let before = try connections()
                try measure(contestant, adding: &scores[index])
                scores[index].connections.append(try connections() - before)
            }
        }
        return scores
    }

    func booksync(_ name: String, book: String, configuration: String) -> Contestant {
        Contestant(name: name) { target in
            setting.product.command(
                ["fetch", "--book", book, "--quiet"], configuration: configuration, library: target)
        }
    }

    /// - Parameters:
    ///   - audio: where they find the files.
    ///   - isFinished: whether what booksync does besides is done afterwards: in memory the files are hashed, else synced.
    func peers(_ peers: [Peer], jobs: Int, audioAt audio: String, isFinished: Bool = false) -> [Contestant] {
        let afterwards = folder == nil ? hashing : { ["sync", "-f", $0] }
        return peers.map { peer in
            Contestant(name: peer.name, afterwards: isFinished ? afterwards : nil) { target in
                try peer.command(
                    Peer.Work(
                        address: audio, files: files, jobs: jobs, target: target, workspace: setting.workspace))
            }
        }
    }

    /// Runs the contestant, and looks whether all the bytes came.
    private func measure(_ contestant: Contestant, adding score: inout Score) throws {
        let target = try emptyTarget()
        if folder != nil { sync() }
        let command = try contestant.command(target)
        score.runs.append(try setting.measure(command))
        let found = try Workspace.contents(of: target)
        guard found.files == files, found.bytes == Int64(files * bytes) else {
            throw MeasuredProcess.Failed(
                description: "\(contestant.name) brought \(found.files) files of \(found.bytes) bytes in all")
        }
        if let afterwards = contestant.afterwards { score.afterwards.append(try setting.measure(afterwards(target))) }
        score.spans.append(try Workspace.span(of: Workspace.files(below: target).map { "\(target)/\($0)" }))
        if folder == nil { _ = try emptyTarget() }
    }

    /// How many calls of the kernel the contestant makes; nil where nobody can count them.
    func systemCalls(of contestant: Contestant) throws -> Int? {
        let target = try emptyTarget()
        let counts = "\(setting.workspace.path)/strace"
        let command = ["strace", "-f", "-c", "-U", "name,calls", "-o", counts] + (try contestant.command(target))
        guard case .success = Result(catching: { try setting.measure(command) }) else { return nil }
        _ = try emptyTarget()
        let text = String(decoding: FileManager.default.contents(atPath: counts) ?? Data(), as: UTF8.self)
        let total = text.split(separator: "\n").last { $0.hasPrefix("total") }
        return total?.split(separator: " ").last.flatMap { Int($0) }
    }

    private func emptyTarget() throws -> String {
        guard let folder else { return try setting.workspace.emptyFolder("target") }
        return try Workspace(path: folder).emptyFolder(UUID().uuidString)
    }

    /// Two at once, each with an eighth of the files at a time.
    private func hashing(_ target: String) -> [String] {
        let hash = "find \"$0\" -name '*.mp3' -print0 | xargs -0 -P 2 -n \"$1\" openssl dgst -sha256 > /dev/null"
        return ["/bin/sh", "-c", hash, target, "\(max(1, files / 8))"]
    }
}

/// A program and what its runs took.
struct Score {
    let name: String
    /// Fetched in each run.
    let bytes: Int
    var runs: [Measurement] = []
    /// What was done after each run, if anything was.
    var afterwards: [Measurement] = []
    /// Seconds of each run from the first file's beginning to the last one's name.
    var spans: [Double] = []
    /// Of each run, where they are counted.
    var connections: [Int] = []

    var cpuPerGibibyte: Double { runs.cpu / (Double(bytes) / Double(1 << 30)) }
    /// Seconds with those of what was done afterwards.
    var finishedWall: Double { zip(runs, afterwards).map { $0.wall + $1.wall }.median }
    /// Bytes a second.
    var rate: Double { Double(bytes) / runs.wall }

    /// The scores side by side, with more columns where they are wanted.
    static func table(
        _ title: String, _ scores: [Score], more: [(title: String, value: (Score) -> String)] = []
    ) -> String {
        let rows = scores.map { score in
            [
                score.name, decimal(score.runs.wall), score.runs.range,
                score.afterwards.isEmpty ? "" : decimal(score.finishedWall), decimal(score.cpuPerGibibyte),
                megabytes(score.runs.peakMemory),
            ] + more.map { $0.value(score) }
        }
        return Report.markdown(
            [title, "wall s", "range", "and openssl or sync", "CPU s/GiB", "peak RSS"] + more.map(\.title), rows)
    }
}
