import BookModel
import Foundation
import LibraryFiles
import SyncPlanner

/// What another program recorded.
struct ProgramRecords: Sendable {
    /// A feed that the program knows, and what it fetched of it.
    struct Feed: Sendable {
        var address: ResourceAddress
        var title: String?
        /// Whether it fetches new episodes by itself.
        var isFollowed = true
        /// Absolute; where its files are, as the program says.
        var folder: String?
        var records: [FetchRecord] = []
    }

    /// Nil where the program does not say which feeds it fetched from.
    var feeds: [Feed]?
    /// Of whatever book.
    var records: [FetchRecord] = []
    /// What podcast-dl writes.
    var keys: [String] = []
    var notices: [Message] = []

    /// Bytes that a list of what was fetched may have.
    private static let maxLength = 256 << 20

    /// - Parameter path: of the program's file, or of the folder that has it under its usual name.
    /// - Throws: ``Failure`` when it cannot be read, or is none of the program's.
    init(of program: OtherProgram, at path: String, environment: [String: String]) async throws {
        self = try await runBlocking {
            var path = path
            if let name = program.fileName, isFolder(at: path) { path += "/" + name }
            guard FileManager.default.fileExists(atPath: path) else {
                throw Failure(
                    .usage, what: "\(program.rawValue) cannot be taken over", why: "there is no \(path)",
                    remedy: "name the file that holds its records")
            }
            func bytes() throws -> [UInt8] {
                try InputFile.bytes(of: path, named: Message(verbatim: path), upTo: Self.maxLength)
            }
            return switch program {
            case .ytDlp: Self(ytDlpArchive: try bytes())
            case .podcastDl: try Self(podcastDlArchive: try bytes(), path: path)
            case .gPodder: try Self(gPodderDatabase: path, environment: environment)
            case .audiobookshelf: try Self(audiobookshelfDatabase: path)
            case .castget: Self(castgetConfiguration: try bytes(), path: path, environment: environment)
            }
        }
    }

    init(feeds: [Feed]? = nil) { self.feeds = feeds }

    /// What was fetched of a book that the program does not name.
    func records(of book: BookIdentity) -> [FetchRecord] { records + podcastDlRecords(of: book) }

    /// Tells a feed's records from the rows that a query has for each feed and episode.
    static func feeds(
        of rows: [[String: String]], _ feed: ([String: String]) -> Feed?,
        record: ([String: String], Feed) -> FetchRecord?
    ) -> [Feed] {
        var feeds: [Feed] = []
        var indices: [ResourceAddress: Int] = [:]
        for row in rows {
            guard let new = feed(row) else { continue }
            let index = indices[new.address] ?? feeds.count
            if index == feeds.count { feeds.append(new) }
            indices[new.address] = index
            if let record = record(row, feeds[index]) { feeds[index].records.append(record) }
        }
        return feeds
    }

    /// The marks that every feed reader can give.
    static func marks(guid: String?, address: String?, title: String?, published: String?) -> [EpisodeMark] {
        var marks: [EpisodeMark] = guid.map { [.id($0)] } ?? []
        if let address { marks += [.address(address), .place(of: address)] }
        if let title, let seconds = published.flatMap(Double.init) {
            marks.append(.title(title, day: EpisodeMark.day(of: Date(clamping: seconds))))
        }
        return marks
    }
}

extension OtherProgram {
    /// Of its records, in a folder that is named for them.
    fileprivate var fileName: String? {
        switch self {
        case .gPodder: "Database"
        case .audiobookshelf: "absdatabase.sqlite"
        case .castget: ".castgetrc"
        case .podcastDl: "archive.json"
        case .ytDlp: nil
        }
    }
}
