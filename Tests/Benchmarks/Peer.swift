import Foundation

/// Another program that can fetch a folder of files, several at once.
struct Peer: Sendable {
    struct Work {
        /// Where the files are, `1.mp3` and on, with an index.
        var address: String
        var files: Int
        /// Files at once.
        var jobs: Int
        var target: String
        var workspace: Workspace
    }

    let name: String
    let version: String
    private(set) var command: @Sendable (Work) throws -> [String]

    /// Those of the well-known ones that are installed.
    static func installed() -> [Peer] {
        let known = [
            Peer("aria2", "aria2c", aria2), Peer("curl -Z", "curl", curl), Peer("rclone", "rclone", rclone),
            Peer("lftp", "lftp", lftp), Peer("wget2", "wget2", wget2),
        ]
        return known.compactMap { $0 }
    }

    /// The same program that trusts those in the file; nil for one that is not told so by the environment.
    func trusting(_ authority: String) -> Peer? {
        guard name == "rclone" else { return nil }
        var peer = self
        peer.command = { ["env", "SSL_CERT_FILE=\(authority)"] + (try command($0)) }
        return peer
    }

    /// nil when the program is not installed.
    private init?(_ name: String, _ program: String, _ command: @escaping @Sendable (Work) throws -> [String]) {
        guard let version = Self.version(of: program) else { return nil }
        self.name = name
        self.version = version
        self.command = command
    }

    @Sendable private static func aria2(_ work: Work) throws -> [String] {
        let list = (1...work.files).map { "\(work.address)/\($0).mp3" }.joined(separator: "\n")
        return [
            "aria2c", "--no-conf", "-j\(work.jobs)", "-i", try work.workspace.write(list, to: "aria2.txt"), "-d",
            work.target,
            "--file-allocation=none", "--quiet",
        ]
    }

    @Sendable private static func curl(_ work: Work) throws -> [String] {
        let list = (1...work.files).map {
            "url = \"\(work.address)/\($0).mp3\"\noutput = \"\(work.target)/\($0).mp3\""
        }
        return [
            "curl", "-q", "--fail", "--silent", "--show-error", "--parallel", "--parallel-max", "\(work.jobs)",
            "--config",
            try work.workspace.write(list.joined(separator: "\n"), to: "curl.txt"),
        ]
    }

    @Sendable private static func rclone(_ work: Work) throws -> [String] {
        [
            "rclone", "copy", ":http:", work.target, "--http-url", work.address, "--transfers", "\(work.jobs)",
            "--config",
            "/dev/null", "--cache-dir", work.workspace.path,
        ]
    }

    @Sendable private static func lftp(_ work: Work) throws -> [String] {
        [
            "lftp", "--norc", "-c",
            "set net:connection-limit 0; mirror --parallel=\(work.jobs) --use-cache \(work.address)/ \(work.target)",
        ]
    }

    @Sendable private static func wget2(_ work: Work) throws -> [String] {
        let list = (1...work.files).map { "\(work.address)/\($0).mp3" }.joined(separator: "\n")
        return [
            "wget2", "--no-config", "--quiet", "--max-threads=\(work.jobs)", "-i",
            try work.workspace.write(list, to: "wget2.txt"),
            "-P", work.target,
        ]
    }

    /// The first word that begins with a digit in what the program says of itself; nil when it is not installed.
    private static func version(of program: String) -> String? {
        let log = "\(NSTemporaryDirectory())/booksync-benchmark-version-\(getpid())"
        defer { _ = Result { try FileManager.default.removeItem(atPath: log) } }
        let flag = program == "rclone" ? "version" : "--version"
        guard case .success = Result(catching: { try MeasuredProcess.run([program, flag], log: log) }) else {
            return nil
        }
        let text = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
        let words = text.split(whereSeparator: \.isWhitespace).map { $0.drop { $0 == "v" } }
        return words.first { $0.first?.isNumber == true }.map(String.init) ?? "?"
    }
}
