import Foundation
import Synchronization

/// What one process took, from its start to its end.
struct Measurement: Sendable {
    /// Seconds.
    var wall: Double
    /// Seconds of all its threads, in user and kernel mode, and those of its children.
    var cpu: Double
    /// Bytes of memory that it held at its peak. The system counts from what the benchmark itself holds when it starts
    /// the process, so that nothing less than ``MeasuredProcess/floor()`` can be seen.
    var peakMemory: Int64
    /// Changes from one thread to another, wanted or not.
    var switches = 0
}

/// Starts processes and measures them through `wait4`.
///
/// The benchmark stays small for the sake of ``Measurement/peakMemory``: whatever needs memory happens elsewhere.
enum MeasuredProcess {
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    private struct Children: Sendable {
        var running: Set<pid_t> = []
        var mayStart = true
    }

    /// What a signal has to end: signals come from outside of everything that could be handed around.
    private static let children = Mutex(Children())

    /// Ends all that runs and starts nothing more, so that whoever waits for it unwinds and cleans up.
    static func endAll() {
        let running = children.withLock { children in
            children.mayStart = false
            return children.running
        }
        for process in running { kill(process, SIGTERM) }
    }

    /// Runs the command to its end.
    /// - Parameters:
    ///   - log: gets what the command writes; it is quoted when the command fails.
    /// - Throws: ``Failed`` when it cannot be started or does not exit with 0.
    static func run(_ command: [String], log: String, environment: [String: String] = [:]) throws -> Measurement {
        let clock = ContinuousClock()
        let begin = clock.now
        let process = try start(command, log: log, environment: environment)
        let (status, usage) = try wait(for: process)
        let wall = (clock.now - begin) / .seconds(1)
        guard status == 0 else {
            let text = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
            throw Failed(
                description: "\(command.joined(separator: " ")) ended with status \(status): \(text.suffix(2000))")
        }
        return Measurement(
            wall: wall, cpu: cpu(usage), peakMemory: peakMemory(usage),
            switches: Int(usage.ru_nvcsw) + Int(usage.ru_nivcsw))
    }

    /// Seconds in user and kernel mode.
    static func cpu(_ usage: rusage) -> Double { seconds(usage.ru_utime) + seconds(usage.ru_stime) }

    /// Bytes.
    static func peakMemory(_ usage: rusage) -> Int64 {
        #if os(Linux)
            Int64(usage.ru_maxrss) * 1024
        #else
            Int64(usage.ru_maxrss)
        #endif
    }

    /// Whether ``wait(for:)`` would return at once.
    static func hasEnded(_ process: pid_t) -> Bool {
        var facts = siginfo_t()
        return waitid(P_PID, id_t(process), &facts, WEXITED | WNOHANG | WNOWAIT) == 0 && facts.si_signo == SIGCHLD
    }

    /// - Returns: how the process ended, and what it used.
    @discardableResult
    static func wait(for process: pid_t) throws -> (status: CInt, usage: rusage) {
        defer { children.withLock { _ = $0.running.remove(process) } }
        var status: CInt = 0
        var usage = rusage()
        while wait4(process, &status, 0, &usage) < 0 {
            guard errno == EINTR else { throw Failed(description: "process \(process) cannot be waited for") }
        }
        return (status, usage)
    }

    /// The least memory that can be measured.
    static func floor() throws -> Int64 {
        try run(["/bin/sh", "-c", "true"], log: "/dev/null").peakMemory
    }

    /// Starts the command in the benchmark's own process group, so that Ctrl-C reaches it too.
    static func start(_ command: [String], log: String, environment: [String: String] = [:]) throws -> pid_t {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
        #else
            var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        #if canImport(Darwin)
            var attributes: posix_spawnattr_t?
        #else
            var attributes = posix_spawnattr_t()
        #endif
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // What the benchmark ignores or blocks, its children would too, and then nothing but SIGKILL would end them.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        // Nothing of the tester's own settings: a proxy or an rc file would change what is measured.
        let base = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "LANG": "C.UTF-8",
            // Libraries come and go at one path: nothing is remembered of them.
            "HOME": "/nonexistent", "XDG_STATE_HOME": "/dev/null",
            // No peer has other programs look into what it fetched.
            "BOOKSYNC_PROBE": "off",
        ]
        let variables = base.merging(environment) { $1 }.map { "\($0.key)=\($0.value)" }
        var arguments = command.map { strdup($0) } + [nil]
        var environment = variables.map { strdup($0) } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var process: pid_t = 0
        let code: CInt = try children.withLock { children in
            guard children.mayStart else { throw Failed(description: "interrupted") }
            let code = posix_spawnp(&process, command[0], &actions, &attributes, &arguments, &environment)
            if code == 0 { children.running.insert(process) }
            return code
        }
        guard code == 0 else {
            throw Failed(description: "\(command[0]) cannot be started: \(String(cString: strerror(code)))")
        }
        return process
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }
}
