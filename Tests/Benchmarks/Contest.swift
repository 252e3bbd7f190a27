import Foundation

/// The same files fetched by several programs, in turns, so that what else the machine does befalls all alike.
struct Contest {
    /// A program, by the command that fetches the files into an empty folder.
    struct Contestant {
        let name: String
        let command: (_ target: String) throws -> [String]
    }

    let setting: Setting
    let files: Int
    let bytes: Int
    /// Connections made up to now, where somebody counts them.
    var connections: () throws -> Int = { 0 }

    func run(_ contestants: [Contestant]) throws -> [Score] {
        var scores = contestants.map { Score(name: $0.name, bytes: files * bytes) }
        for run in 1...setting.runs {
            record("  run \(run) of \(setting.runs)")
            for (index, contestant) in contestants.enumerated() {
                let before = try connections()
                scores[index].runs.append(try checked(contestant))
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

    /// - Parameter audio: where they find the files.
    func peers(_ peers: [Peer], jobs: Int, audioAt audio: String) -> [Contestant] {
        peers.map { peer in
            Contestant(name: peer.name) { target in
                try peer.command(
                    Peer.Work(
                        address: audio, files: files, jobs: jobs, target: target, workspace: setting.workspace))
            }
        }
    }

    /// Runs the contestant, and looks whether all the bytes came.
    private func checked(_ contestant: Contestant) throws -> Measurement {
        let target = try setting.workspace.emptyFolder("target")
        let command = try contestant.command(target)
        let measurement = try setting.measure(command)
        let found = try Workspace.contents(of: target)
        guard found.files == files, found.bytes == Int64(files * bytes) else {
            throw MeasuredProcess.Failed(
                description: "\(contestant.name) brought \(found.files) files of \(found.bytes) bytes in all")
        }
        _ = try setting.workspace.emptyFolder("target")
        return measurement
    }
}

/// A program and what its runs took.
struct Score {
    let name: String
    /// Fetched in each run.
    let bytes: Int
    var runs: [Measurement] = []
    /// Of each run, where they are counted.
    var connections: [Int] = []

    var cpuPerGibibyte: Double { runs.cpu / (Double(bytes) / Double(1 << 30)) }
    /// Bytes a second.
    var rate: Double { Double(bytes) / runs.wall }

    /// The scores side by side, with more columns where they are wanted.
    static func table(
        _ title: String, _ scores: [Score], more: [(title: String, value: (Score) -> String)] = []
    ) -> String {
        let rows = scores.map { score in
            [
                score.name, decimal(score.runs.wall), score.runs.range, decimal(score.cpuPerGibibyte),
                megabytes(score.runs.peakMemory),
            ] + more.map { $0.value(score) }
        }
        return Report.markdown([title, "wall s", "range", "CPU s/GiB", "peak RSS"] + more.map(\.title), rows)
    }
}
