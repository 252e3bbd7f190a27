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
        return (files.count, try files.reduce(0) { try $0 + size(of: "\(folder)/\($1)") })
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

    static func size(of file: String) throws -> Int64 { Int64(try status(of: file).st_size) }

    /// Seconds from the creation of the first of the files to the last one's last change of name.
    static func span(of files: [String]) throws -> Double {
        let begin = try files.compactMap {
            try FileManager.default.attributesOfItem(atPath: $0)[.creationDate] as? Date
        }.min()
        let end = try files.map { file in
            let changed = try status(of: file).st_ctim
            return Double(changed.tv_sec) + Double(changed.tv_nsec) / 1e9
        }.max()
        guard let begin, let end else { return .nan }
        return end - begin.timeIntervalSince1970
    }

    private static func status(of file: String) throws -> stat {
        var status = stat()
        guard lstat(file, &status) == 0 else {
            throw MeasuredProcess.Failed(description: "\(file) cannot be looked at")
        }
        return status
    }
}
