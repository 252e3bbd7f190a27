import Dispatch
import Foundation

/// A folder in memory for everything that a benchmark serves and fetches, so that no disk is measured.
struct Workspace: Sendable {
    let path: String

    /// Hands a new workspace to the body and removes it afterwards, also on Ctrl-C.
    static func with<Answer>(_ body: (Workspace) async throws -> Answer) async throws -> Answer {
        let parent = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        let workspace = Workspace(path: "\(parent)/booksync-benchmark-\(getpid())")
        try FileManager.default.createDirectory(atPath: workspace.path, withIntermediateDirectories: true)
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { MeasuredProcess.endAll() }
            source.resume()
            return source
        }
        defer {
            for source in sources { source.cancel() }
            _ = Result { try FileManager.default.removeItem(atPath: workspace.path) }
        }
        return try await body(workspace)
    }

    /// A new and empty folder of that name.
    func emptyFolder(_ name: String) throws -> String {
        let folder = "\(path)/\(name)"
        if FileManager.default.fileExists(atPath: folder) { try FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    func write(_ text: String, to name: String) throws -> String {
        let file = "\(path)/\(name)"
        try text.write(toFile: file, atomically: false, encoding: .utf8)
        return file
    }

    var log: String { "\(path)/log" }

    /// Number and bytes of the files below a folder, without those in hidden folders.
    static func contents(of folder: String) throws -> (files: Int, bytes: Int64) {
        var files = 0
        var bytes: Int64 = 0
        for case let path as String in FileManager.default.enumerator(atPath: folder) ?? .init() {
            let isHidden = path.split(separator: "/").contains { $0.hasPrefix(".") }
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(path)")
            guard !isHidden, attributes[.type] as? FileAttributeType == .typeRegular else { continue }
            files += 1
            bytes += (attributes[.size] as? NSNumber)?.int64Value ?? 0
        }
        return (files, bytes)
    }
}
