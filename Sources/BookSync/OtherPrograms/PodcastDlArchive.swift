import BookModel
import CatalogFetcher
import Foundation
import SyncPlanner

extension ProgramRecords {
    /// A JSON array of keys: the feed's host and path, a hyphen, and then the episode's guid, or its day, a hyphen, its title and
    /// the extension of its file.
    init(podcastDlArchive bytes: [UInt8], path: String) throws {
        self.init()
        guard let document = try? JSONReader.read(bytes), document.kind == .array else {
            throw Failure(
                .usage, what: "\(path) cannot be read as an archive of podcast-dl", why: "it is no JSON array",
                remedy: "name the file that its --archive wrote")
        }
        keys = document.elements.compactMap(\.string)
    }

    func podcastDlRecords(of book: BookIdentity) -> [FetchRecord] {
        guard !keys.isEmpty, let address = URLComponents(string: String(book.id.prefix { $0 != "#" })) else {
            return []
        }
        let prefix = (address.host ?? "") + address.percentEncodedPath + "-"
        let formats = DateFormatter()
        formats.locale = Locale(identifier: "en_US_POSIX")
        formats.timeZone = TimeZone(identifier: "UTC")
        formats.dateFormat = "yyyyMMdd"
        return keys.compactMap { key in
            guard key.hasPrefix(prefix) else { return nil }
            let rest = String(key.dropFirst(prefix.count))
            let (date, name) = (rest.prefix(8), rest.dropFirst(9))
            guard rest.dropFirst(8).first == "-", let day = formats.date(from: String(date)),
                let dot = name.lastIndex(of: ".")
            else { return FetchRecord([.id(rest)]) }
            // Pictures and metadata are under the same name.
            guard AudioExtension.known.contains(name[name.index(after: dot)...].lowercased()) else { return nil }
            return FetchRecord([.id(rest), .title(String(name[..<dot]), day: EpisodeMark.day(of: day))])
        }
    }
}
