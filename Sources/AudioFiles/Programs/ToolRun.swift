import BookModel
import Foundation
import LibraryFiles
import Subprocess

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// What a program wrote.
struct ToolOutput: Sendable {
    var bytes: [UInt8] = []
    /// The beginning of its standard error.
    var errors = ""
    /// Why it did not end well; nil where it did.
    var trouble: ToolTrouble?
}

/// A run of ffprobe or ffmpeg on one file.
///
/// The shell sets the limits and looks at the file before it becomes the program, so that there is no moment without limits and
/// no FIFO is opened. All is a process group of its own, and all of that ends with the run, and with booksync: one more process
/// waits for the end of a pipe that nobody else can write to, which comes even where booksync is killed.
struct ToolRun: Sendable {
    /// Absolute paths of the program and of the file.
    let tool, file: String
    let arguments: [String]
    let time: MediaLimits.Time
    let maxAddressSpace, maxOutput: Int
    /// Bytes of a file that it may write.
    var maxFileSize: Int64 = 0

    /// Takes seconds of processor time, kilobytes of address space, blocks of 512 bytes that it may write, the file, the program
    /// and its arguments. A limit that is stricter already stays.
    private static let script = """
        { ulimit -c 0; ulimit -f $3; ulimit -H -t $(($1+1)); ulimit -S -t $1; ulimit -v $2; } 2>/dev/null
        [ -e "$4" ] || exit 120; [ -f "$4" ] || exit 121; [ -s "$4" ] || exit 122
        shift 4; exec 3<&0 </dev/null
        { read -r _ <&3; kill -KILL 0; } >/dev/null 2>&1 &
        exec 3<&-; exec "$@"
        """

    /// Runs it to its end; throws only `CancellationError`.
    func run() async throws -> ToolOutput {
        do {
            let output = try await limited(to: time.seconds) { try await execute() }
            try Task.checkCancellation()
            let seconds = describeSeconds(time.seconds)
            return output ?? ToolOutput(trouble: ToolTrouble(.file, "\(name) did not finish within \(seconds)"))
        } catch let error as SubprocessError {
            try Task.checkCancellation()
            let why = error.underlyingError.map { Message(errno: $0.rawValue) } ?? Message(cause: error)
            return ToolOutput(trouble: ToolTrouble(.program, "\(name) cannot be run: \(why)"))
        } catch let error as SystemError {
            return ToolOutput(trouble: ToolTrouble(.program, "\(name) cannot be run: \(error.message)"))
        }
    }

    private func execute() async throws -> ToolOutput {
        let (reading, writing) = try Self.makePipe()
        defer {
            close(reading)
            close(writing)
        }
        var options = PlatformOptions()
        options.processGroupID = 0
        options.teardownSequence = [.send(signal: .kill, toProcessGroup: true, allowedDurationToNextStep: .zero)]
        let limits = [
            "\(time.processorSeconds)", "\(maxAddressSpace >> 10)", "\(maxFileSize.addingSaturated(511) / 512)",
        ]
        let result = try await Subprocess.run(
            .path("/bin/sh"), arguments: Arguments(["-c", Self.script, "sh"] + limits + [file, tool] + arguments),
            environment: .custom(["LC_ALL": "C"]), platformOptions: options,
            input: .fileDescriptor(FileDescriptor(rawValue: reading), closeAfterSpawningProcess: false),
            output: .sequence, error: .sequence
        ) { execution in
            async let errors = Self.beginning(of: execution.standardError, count: 8 << 10)
            // A program that writes more ends with its pipe.
            let bytes = try await Self.beginning(of: execution.standardOutput, count: maxOutput + 1) {
                _ = try? execution.send(signal: .kill, toProcessGroup: true)
            }
            return ToolOutput(bytes: bytes, errors: String(decoding: try await errors, as: UTF8.self))
        }
        // What it left running, and the process that waits.
        let group = -result.processIdentifier.value
        kill(group, SIGKILL)
        // The first process of a container has to bury them.
        if getpid() == 1 { try await runBlocking { while waitpid(group, nil, 0) > 0 {} } }
        var output = result.closureResult
        output.trouble = trouble(result.terminationStatus, output)
        return output
    }

    /// A pipe of this process alone: Subprocess leaves no other descriptors open in what it starts.
    private static func makePipe() throws(SystemError) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        try systemCall { pipe(&ends) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Reads all of it, so that the program does not wait, and keeps the beginning.
    private static func beginning(
        of output: SubprocessOutputSequence, count: Int, onMore: () -> Void = {}
    ) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await buffer in output {
            buffer.withUnsafeBytes { bytes += $0.prefix(count - bytes.count) }
            if bytes.count == count { onMore() }
        }
        return bytes
    }

    private var name: String { tool.split(separator: "/").last.map(String.init) ?? tool }

    private func trouble(_ status: TerminationStatus, _ output: ToolOutput) -> ToolTrouble? {
        let text = firstError(output.errors)
        return switch status {
        case _ where output.bytes.count > maxOutput:
            ToolTrouble(.file, "\(name) wrote more than \(describeBytes(Int64(maxOutput)))")
        case .exited(0): nil
        // The shell's own.
        case .exited(120): ToolTrouble(.file, "there is no such file")
        case .exited(121): ToolTrouble(.file, "it is not a regular file")
        case .exited(122): ToolTrouble(.file, "the file is empty")
        case .exited(126), .exited(127): ToolTrouble(.program, "\(name) cannot be run: \(text)")
        case .exited(let code) where text.isEmpty: ToolTrouble(.exited, "\(name) failed with exit code \(code)")
        case .exited: ToolTrouble(.exited, Message(verbatim: text))
        case .signaled(SIGXCPU):
            ToolTrouble(.file, "\(name) used more than \(time.processorSeconds) s of processor time")
        case .signaled(let signal): ToolTrouble(.file, "\(name) was ended by signal \(signal)")
        }
    }

    /// The first error of lines such as `[mp3 @ 0x55f0] [error] Header missing`, or the first line; at most 200 characters,
    /// without the file's path.
    private func firstError(_ errors: String) -> String {
        let lines = errors.replacing("file:\(file): ", with: "").split(whereSeparator: \.isNewline)
        let line = lines.first { $0.contains("[error] ") || $0.contains("[fatal] ") } ?? lines.first ?? ""
        let text = line.replacing(/^(\[[^\]]*\] )+/, with: "").prefix(200)
        return String(text.map { $0.unicodeScalars.contains { $0.properties.generalCategory == .control } ? "?" : $0 })
    }
}
