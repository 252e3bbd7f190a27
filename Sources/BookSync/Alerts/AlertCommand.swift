import BookModel
import DownloadEngine
import Foundation
import LibraryFiles
import Settings
import Subprocess
import Synchronization

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// Runs a command of the user's through `/bin/sh`, with the document on its standard input.
///
/// Its input and its output are files without a name, not pipes: a command that reads nothing, writes without end or
/// leaves a child behind that keeps its output open holds nobody up. It is a process group of its own, and all of that
/// ends with it: when its time is up, when the run is interrupted, and when the command itself has ended.
struct AlertCommand: Sendable {
    /// Its arguments may hold a token: nothing of it is told but the first word.
    let command: Secret
    /// Seconds that it may take.
    var limit = 60.0

    /// Bytes of its output that are told.
    private static let maxOutput = 1000

    func run(_ document: String) async -> AlertOutcome {
        do {
            let input = try await runBlocking { try Self.namelessFile(holding: document) }
            let output = try await runBlocking { try Self.namelessFile(holding: "") }
            defer {
                close(input)
                close(output)
            }
            let group = ProcessGroup()
            // What it left running, however it ended.
            defer { group.kill() }
            let status = try await end(input: input, output: output, group)
            let said = try await runBlocking { Self.text(of: output) }
            return outcome(status, said: masked(said))
        } catch is CancellationError {
            return AlertOutcome(isDelivered: false, notice: "\(name) was ended: the run was interrupted")
        } catch let error as SystemError {
            return AlertOutcome(isDelivered: false, notice: "\(name) was not run: \(error.message)")
        } catch {
            let code = (error as? SubprocessError)?.underlyingError?.rawValue
            let why = code.map { Message(errno: $0) } ?? Message(cause: error)
            return AlertOutcome(isDelivered: false, notice: "\(name) was not run: \(why)")
        }
    }

    /// Runs it to its end, or for as long as it may take.
    /// - Returns: nil when its time was up.
    private func end(input: Int32, output: Int32, _ group: ProcessGroup) async throws -> TerminationStatus? {
        // Over before the descriptor is closed: a task of this call ends with it.
        async let _: Void = Self.keepSmall(output)
        return try await limited(to: limit) { [command] in
            var options = PlatformOptions()
            options.processGroupID = 0
            options.teardownSequence = [
                .send(signal: .terminate, toProcessGroup: true, allowedDurationToNextStep: .milliseconds(500))
            ]
            // Everybody can read a process's arguments, and only its owner the environment.
            return try await Subprocess.run(
                .path("/bin/sh"), arguments: ["-c", "c=$BOOKSYNC_ALERT; unset BOOKSYNC_ALERT; eval \"$c\""],
                environment: .inherit.updating(["BOOKSYNC_ALERT": command.secretText]), platformOptions: options,
                input: .fileDescriptor(FileDescriptor(rawValue: input), closeAfterSpawningProcess: false),
                output: .fileDescriptor(FileDescriptor(rawValue: output), closeAfterSpawningProcess: false),
                error: .fileDescriptor(FileDescriptor(rawValue: output), closeAfterSpawningProcess: false)
            ) { execution in
                group.leader.withLock { $0 = execution.processIdentifier.value }
            }.terminationStatus
        }
    }

    private final class ProcessGroup: Sendable {
        let leader = Mutex<pid_t?>(nil)

        /// It is gone where nothing of it runs.
        func kill() {
            guard let leader = leader.withLock({ $0 }) else { return }
            Foundation.kill(-leader, SIGKILL)
        }
    }

    private var name: String { "notify.exec (\(Masking.command(command)))" }

    private func outcome(_ status: TerminationStatus?, said: String) -> AlertOutcome {
        let behind = said.isEmpty ? "" : ": \(said)"
        switch status {
        case nil: return AlertOutcome(isDelivered: false, notice: "\(name) was ended after \(Int(limit)) s\(behind)")
        case .exited(0): return AlertOutcome(isDelivered: true, notice: said.isEmpty ? nil : "\(name) says\(behind)")
        case .exited(let code):
            return AlertOutcome(isDelivered: false, notice: "\(name) failed with exit code \(code)\(behind)")
        case .signaled(let signal):
            return AlertOutcome(isDelivered: false, notice: "\(name) was ended by signal \(signal)\(behind)")
        }
    }

    /// Shells and tools repeat what they were given, or a part of it, when they complain about it.
    private func masked(_ text: String) -> String {
        let words = command.secretText.split { $0.isWhitespace || "'\"".contains($0) }.dropFirst()
        let parts = words.flatMap { $0.split { ":=@?&,;".contains($0) } }.filter { !$0.hasPrefix("//") }
        return (words + parts).filter { $0.count >= 6 }.sorted { $0.count > $1.count }
            .reduce(text) { $0.replacing($1, with: "***") }
    }

    // MARK: Files

    /// Gives back the room of what is written beyond what is told, until it is cancelled: output without end must not fill
    /// the disk.
    private static func keepSmall(_ descriptor: Int32) async {
        do {
            while true {
                try await Task.sleep(for: .milliseconds(100))
                try await runBlocking {
                    var status = stat()
                    guard fstat(descriptor, &status) == 0, status.st_blocks > 2048 else { return }
                    // Whoever writes goes on behind a hole.
                    ftruncate(descriptor, off_t(maxOutput))
                }
            }
        } catch {
            // Cancelled, because the command has ended.
        }
    }

    private static func namelessFile(holding text: String) throws(SystemError) -> Int32 {
        let path = FileManager.default.temporaryDirectory.appending(path: "booksync-alert-XXXXXX").path
        var template = Array(path.utf8CString)
        let descriptor = try systemCall { mkstemp(&template) }
        unlink(template)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        do throws(SystemError) {
            try writeAll(Array(text.utf8), to: descriptor)
            try systemCall { lseek(descriptor, 0, SEEK_SET) }
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// The beginning of what was written, on one line.
    private static func text(of descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: maxOutput)
        let count = max(0, pread(descriptor, &bytes, bytes.count, 0))
        return String(decoding: bytes.prefix(count), as: UTF8.self).split(whereSeparator: \.isNewline)
            .joined(separator: " / ")
    }
}
