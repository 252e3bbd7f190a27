import ArgumentParser
import BookModel
import BookSync
import Foundation
import Logging
import Synchronization

/// Where the log goes, in which form, and how much of it.
///
/// Each line is one system call at the end of the file, so that several processes can share a log, and whoever rotates it
/// may copy and truncate it.
struct LogOutput: Sendable {
    enum Format: String, Sendable, CaseIterable, ExpressibleByArgument {
        case text, json
    }

    let logger: Logger
    /// Whether the log has a place of its own, and not standard error's, where runs are told of anyway.
    let isFile: Bool
    private let writer: LogWriter

    /// - Parameters:
    ///   - verbosity: how often `-v` was given.
    ///   - minLevel: the level on standard error without any.
    /// - Throws: ``Failure`` of kind `inputOutput` when the file cannot be opened.
    init(file: String?, format: Format, verbosity: Int, minLevel: Logger.Level) throws {
        isFile = file != nil
        let writer = try LogWriter(file: file)
        self.writer = writer
        // A file is kept for later: what led to an error is wanted beside it.
        let levels: [Logger.Level] = isFile ? [.info, .debug, .trace] : [minLevel, .info, .debug]
        let level = levels[min(verbosity, levels.count - 1)]
        logger = Logger(label: "booksync") { _ in
            LineLogHandler(logLevel: level, format: format, write: writer.write)
        }
    }

    /// Returns when all that was logged is written.
    /// - Returns: why some of it is not; nil when nothing is missing.
    func close() async -> Failure? { await writer.close() }
}

/// Writes lines from a queue of its own: no thread that logs waits for a disk.
private final class LogWriter: Sendable {
    private let queue = DispatchQueue(label: "booksync.log")
    private let descriptor: Int32
    private let name: Message
    private let failure = Mutex<Int32?>(nil)

    init(file: String?) throws {
        name = file.map(Message.init(verbatim:)) ?? "standard error"
        guard let file else {
            descriptor = STDERR_FILENO
            return
        }
        descriptor = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw Self.failure(name, errno) }
    }

    func write(_ line: String) {
        queue.async { [self] in
            var text = line + "\n"
            let code = text.withUTF8 { StandardStreams.write(UnsafeRawBufferPointer($0), to: descriptor) }
            if let code { failure.withLock { $0 = $0 ?? code } }
        }
    }

    func close() async -> Failure? {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                if descriptor != STDERR_FILENO { Foundation.close(descriptor) }
                let code = failure.withLock { $0 }
                // Standard error has no other place where its failure could be told.
                continuation.resume(
                    returning: descriptor == STDERR_FILENO ? nil : code.map { Self.failure(name, $0) })
            }
        }
    }

    private static func failure(_ name: Message, _ code: Int32) -> Failure {
        Failure(
            .inputOutput, disposition: .stop, what: "the log '\(name)' cannot be written",
            why: Message(errno: code),
            remedy: "make room there, or name another file with --log-file")
    }
}

/// A line for each event: time, level, message, and what it is about.
private struct LineLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level
    let format: LogOutput.Format
    let write: @Sendable (String) -> Void

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let about = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
        let time = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        switch format {
        case .json:
            let document: JSONDocument = [
                "time": .string(time), "level": .string(event.level.rawValue), "message": .string("\(event.message)"),
            ]
            write(document.adding(.object(about.map { .init(key: $0.key, value: .string("\($0.value)")) })).text())
        case .text:
            let pairs = about.map { " \($0.key)=\(Self.quoted("\($0.value)"))" }.joined()
            write("\(time) \(event.level.rawValue): \(event.message)\(pairs)")
        }
    }

    /// As it is where it is one word, else as a JSON string: no name from a catalog makes a line of its own.
    private static func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty
            && text.unicodeScalars.allSatisfy {
                $0.value > 0x20 && $0 != "\"" && $0 != "=" && !JSONDocument.mustBeEscaped($0)
            }
        return isPlain ? text : JSONDocument.string(text).text()
    }
}
