import BookModel
import Foundation

/// What stands in the lock file about the one who holds it.
package struct LockOwner: Hashable {
    var process: String
    var host: String
    var started: String
    var command: String

    static func thisProcess(command: String) -> LockOwner {
        LockOwner(
            process: "\(ProcessInfo.processInfo.processIdentifier)", host: hostName(),
            started: Date.now.formatted(.iso8601), command: command)
    }

    init(process: String, host: String, started: String, command: String) {
        func line(_ text: String) -> String {
            String(text.map { $0.isNewline || $0 == "\0" ? " " : $0 }.prefix(500))
        }
        self.process = line(process)
        self.host = line(host)
        self.started = line(started)
        self.command = line(command)
    }

    var lines: String { "pid \(process)\nhost \(host)\nsince \(started)\ncommand \(command)\n" }

    /// - Returns: nil when the text names no process.
    init?(lines: String) {
        let values = Self.values(of: lines)
        guard let process = values["pid"] else { return nil }
        self.init(
            process: process, host: values["host"] ?? "?", started: values["since"] ?? "?",
            command: values["command"] ?? "?")
    }

    /// Each line's first word → what follows it.
    static func values(of lines: String) -> [Substring: String] {
        let pairs = lines.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 1) }.filter { $0.count == 2 }
        return Dictionary(pairs.map { ($0[0], String($0[1])) }) { first, _ in first }
    }

    /// When it took the lock, to the second; nil where it does not say so.
    package var startTime: Date? { try? Date(started, strategy: .iso8601) }

    /// What holds the lock, in words. A process of another machine cannot be looked for on this one, so that is said.
    package var sentence: Message {
        let machine: Message = isElsewhere ? "on another machine, \(host)," : "on this machine (\(host))"
        let since = startTime.map { "\($0)" } ?? Message(verbatim: started)
        return "process \(process) \(machine) has been running '\(command)' since \(since)"
    }

    /// Whether it is a run that fetches, which looks at what else is wanted.
    package var fetches: Bool { ["fetch", "mirror"].contains(command) }

    /// Whether it is a run for all subscriptions.
    package var mirrors: Bool { command == "mirror" }

    /// Whether it is a process of another machine than this one, as far as the names of the two tell.
    var isElsewhere: Bool { host != Self.hostName() }

    /// Seconds that it has been running; nil where it does not say since when.
    package func age(at now: Date) -> Double? { startTime.map(now.timeIntervalSince) }

    /// What stands in the lock file of a library; nil when nothing does. Blocks on the disk.
    package init?(of library: LibraryFolder) {
        guard let bytes = FileManager.default.contents(atPath: library.lockFile) else { return nil }
        self.init(lines: String(decoding: bytes.prefix(4096), as: UTF8.self))
    }

    /// Asked of the kernel: Foundation's `hostName` asks the network.
    private static func hostName() -> String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "?" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
