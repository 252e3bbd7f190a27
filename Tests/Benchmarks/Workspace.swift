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

    /// Makes room; what was never there is as good as removed.
    func remove(_ name: String) {
        _ = Result { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }
    }

    var log: String { "\(path)/log" }

    /// Number and bytes of the files below a folder, without those in hidden folders.
    static func contents(of folder: String) throws -> (files: Int, bytes: Int64) {
        let files = try files(below: folder)
        let bytes = try files.reduce(Int64(0)) { sum, file in
            let size = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(file)")[.size]
            return sum + ((size as? NSNumber)?.int64Value ?? 0)
        }
        return (files.count, bytes)
    }

    /// The regular files below a folder, by their paths in it, without those in hidden folders.
    static func files(below folder: String) throws -> [String] {
        var files: [String] = []
        for case let path as String in FileManager.default.enumerator(atPath: folder) ?? .init() {
            let isHidden = path.split(separator: "/").contains { $0.hasPrefix(".") }
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(path)")
            guard !isHidden, attributes[.type] as? FileAttributeType == .typeRegular else { continue }
            files.append(path)
        }
        return files
    }
}
