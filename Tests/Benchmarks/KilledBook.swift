import Foundation
import Support

/// A book that booksync fetches into one library, killed over and over, through a slow relay that counts what was sent.
struct KilledBook {
    /// When SIGKILL comes.
    enum Moment {
        /// So many microseconds after the start: while the program starts, or reads the catalog.
        case time(Int)
        /// When the relay has sent so many body bytes since it was started.
        case bytes(Int)
        /// So many microseconds after the last byte of this run's so-manieth file or piece: while it is published.
        case end(ofBody: Int, microseconds: Int)
    }

    /// What a whole library is like.
    struct Findings {
        /// Files that are not what the server has, and those of which the store says so wrongly.
        var wrong = 0
        var lost = 0
        /// Audio that belongs to no episode, and what is left of partial files.
        var extra = 0
        /// Sent in all, and how much of it more than once or for nothing.
        var sent = 0
        var wasted = 0
        /// Of ``wasted``, with this many kills.
        var allowed = 0

        var areGood: Bool { wrong == 0 && lost == 0 && extra == 0 && wasted <= allowed }
    }

    /// For each job of each kill: what was on its way and never seen.
    static let inFlight = 64 << 10

    let setting: Setting
    let book: String
    let jobs: Int
    let configuration: String
    let relay: Relay
    /// SHA-256 of the server's files, in order.
    private let digests: [String]
    private let bytes: Int
    private let library: String
    private let sentBefore: Int
    private(set) var kills = 0

    /// Begins with an empty library.
    init(setting: Setting, book: String, jobs: Int, configuration: String, relay: Relay, sources: Sources) throws {
        self.setting = setting
        self.book = book
        self.jobs = jobs
        self.configuration = configuration
        self.relay = relay
        digests = sources.digests
        bytes = sources.bytes
        library = try setting.workspace.emptyFolder("target")
        sentBefore = relay.counts.bodyBytes
    }

    /// The files that the server has of a book.
    struct Sources {
        let digests: [String]
        let bytes: Int

        init(of book: String, sizes: [Int], in workspace: Workspace) throws {
            bytes = sizes.reduce(0, +)
            digests = try (1...sizes.count).map { try sha256(ofFileAt: "\(workspace.path)/audio/\(book)/\($0).mp3") }
        }
    }

    private func command(_ arguments: String...) -> [String] {
        setting.product.command(arguments, configuration: configuration, library: library)
    }

    /// Runs once.
    /// - Parameter moment: nil lets it run to its end.
    /// - Returns: whether it was killed; else the library is whole.
    mutating func run(killedAt moment: Moment?) throws -> Bool {
        let before = relay.counts.wholeBodies
        let process = try MeasuredProcess.start(
            command("fetch", "--book", book, "--quiet"), log: setting.workspace.log)
        if let moment {
            switch moment {
            case .time(let microseconds): usleep(UInt32(microseconds))
            case .bytes(let bytes):
                let due = sentBefore + bytes
                while relay.counts.bodyBytes < due, !MeasuredProcess.hasEnded(process) { usleep(300) }
            case .end(let body, let microseconds):
                while relay.counts.wholeBodies < before + body, !MeasuredProcess.hasEnded(process) { usleep(300) }
                usleep(UInt32(microseconds))
            }
            kill(process, SIGKILL)
        }
        let (status, _) = try MeasuredProcess.wait(for: process)
        try relay.waitUntilIdle()
        if status & 0x7F == SIGKILL {
            kills += 1
            return true
        }
        guard status == 0 else {
            let text = try String(contentsOfFile: setting.workspace.log, encoding: .utf8)
            throw MeasuredProcess.Failed(description: "after \(kills) kills a run ended with \(status >> 8): \(text)")
        }
        return false
    }

    /// Body bytes sent for this library.
    var sent: Int { relay.counts.bodyBytes - sentBefore }

    /// Reads the whole library, and looks that one more run asks for nothing.
    mutating func check() throws -> Findings {
        var findings = Findings()
        _ = try run(killedAt: nil)
        findings.sent = sent
        findings.wasted = sent - bytes
        findings.allowed = Self.inFlight * jobs * kills
        var files = try filesBySection()
        let recorded = try recordedDigests()
        for (section, digest) in zip(1..., digests) {
            guard var found = files.removeValue(forKey: section), let file = found.popLast() else {
                findings.lost += 1
                continue
            }
            findings.extra += found.count
            if try sha256(ofFileAt: file) != digest || recorded[section] != digest { findings.wrong += 1 }
        }
        findings.extra += files.values.reduce(0) { $0 + $1.count }
        findings.extra += try partialFiles()
        return findings
    }

    /// Every file outside of hidden folders, by the number that its name begins with.
    private func filesBySection() throws -> [Int: [String]] {
        var files: [Int: [String]] = [:]
        for path in try Workspace.files(below: library) {
            let name = path.split(separator: "/").last ?? ""
            files[Int(name.prefix { $0.isNumber }) ?? 0, default: []].append("\(library)/\(path)")
        }
        return files
    }

    private func partialFiles() throws -> Int {
        let folder = "\(library)/.booksync/partial"
        guard FileManager.default.fileExists(atPath: folder) else { return 0 }
        return try FileManager.default.contentsOfDirectory(atPath: folder).count
    }

    /// As `booksync list` tells them.
    private func recordedDigests() throws -> [Int: String] {
        _ = try setting.measure(command("list", book, "--json"))
        let document = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: setting.workspace.log)))
        let episodes = (document as? [[String: Any]] ?? []).compactMap { episode in
            (episode["section"] as? Int).map { ($0, episode["sha256"] as? String ?? "") }
        }
        return Dictionary(episodes) { first, _ in first }
    }
}
