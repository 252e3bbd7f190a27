import BookModel
import CatalogFetcher
import Foundation

/// How fast answers are read, without a program around it: bytes to records. Runs in a process of its own, started by
/// the benchmarks, so that their memory is not counted.
struct CatalogReading {
    static let childFlag = "--catalog-reading"
    private static let repetitions = 5

    /// Of one reading each.
    var seconds: [Double]
    var bytes: Int
    var episodes: Int
    /// Bytes that the episodes take.
    var resultSize: Int64
    /// Bytes of memory that the process held at its peak: the program, the answers, and what was read of them.
    var peakMemory: Int64

    /// Reads what is in the folder five times, in a new process.
    static func measured(_ kind: SourceKind, folder: String, _ setting: Setting) throws -> CatalogReading {
        let executable = Bundle.main.executablePath ?? CommandLine.arguments[0]
        let measurement = try setting.measure([executable, childFlag, kind.rawValue, folder])
        let output = String(
            decoding: FileManager.default.contents(atPath: setting.workspace.log) ?? Data(), as: UTF8.self)
        let figures = output.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard figures.count == repetitions + 3 else {
            throw MeasuredProcess.Failed(description: "no figures in: \(output)")
        }
        return CatalogReading(
            seconds: Array(figures[3...]), bytes: Int(figures[0]), episodes: Int(figures[1]),
            resultSize: Int64(figures[2]), peakMemory: measurement.peakMemory)
    }

    /// Prints the bytes that were read, the episodes found in them, their size, and the seconds of each reading.
    static func child(_ arguments: [String]) throws {
        guard arguments.count == 2, let kind = SourceKind(rawValue: arguments[0]) else {
            throw MeasuredProcess.Failed(description: "\(childFlag) KIND FOLDER")
        }
        let format: any CatalogFormat
        switch kind {
        case .feed: format = FeedSettings()
        case .bookResource:
            format = BookResourceSettings(listAddress: ResourceAddress("http://books.example/list"))
        case .internetArchive: format = InternetArchiveSettings()
        case .librivox: format = LibriVoxSettings()
        case .directory: format = DirectorySettings()
        case .opds: format = OPDSSettings()
        case .audiobookshelf: format = AudiobookshelfSettings(address: ResourceAddress("http://books.example"))
        }
        let answers = try Workspace.files(below: arguments[1]).map { file in
            let data = try Data(contentsOf: URL(filePath: "\(arguments[1])/\(file)"))
            return CatalogResponse(bytes: Array(data), address: ResourceAddress("http://books.example/\(file)"))
        }
        let clock = ContinuousClock()
        var seconds: [Double] = []
        var read: [CatalogContents] = []
        for _ in 1...repetitions {
            read = []
            read.reserveCapacity(answers.count)
            let begin = clock.now
            for answer in answers { read.append(try format.read(answer, source: "bench", id: "1")) }
            seconds.append((clock.now - begin) / .seconds(1))
        }
        let episodes = read.reduce(0) { $0 + $1.episodes.count }
        let size = read.reduce(0) { $0 + $1.episodes.reduce(0) { $0 + Self.size(of: $1) } }
        print(answers.reduce(0) { $0 + $1.bytes.count }, episodes, size, seconds.map { "\($0)" }.joined(separator: " "))
    }

    /// Bytes of an episode with the texts that are its own.
    private static func size(of episode: Episode) -> Int {
        let texts = [
            episode.identity.key, episode.name, episode.address?.secretText, episode.guid, episode.mediaType,
            episode.chapters, episode.digest?.hexadecimal,
        ]
        return MemoryLayout<Episode>.stride + texts.compactMap { $0 }.reduce(0) { $0 + size(of: $1) }
    }

    /// Bytes that a text has on the heap: none up to 15, else a header of 32, in units of 16.
    private static func size(of text: String) -> Int {
        let count = text.utf8.count
        return count <= 15 ? 0 : (32 + count + 1 + 15) / 16 * 16
    }
}

extension [CatalogReading] {
    var seconds: Double { flatMap(\.seconds).median }
    /// 10⁶ bytes a second.
    var speed: Double { Double(first?.bytes ?? 0) / 1e6 / seconds }
    var peakMemory: Int64 { map(\.peakMemory).max() ?? 0 }
}
