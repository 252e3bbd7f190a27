import CatalogFetcher
import Foundation
import SyncPlanner

extension ProgramRecords {
    /// Lines of `--download-archive`: the extractor's name and an id. That is an episode's guid where the feed has one, else
    /// the name of its file; of the Internet Archive the item and the file.
    init(ytDlpArchive bytes: [UInt8]) {
        self.init()
        records = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).compactMap { line in
            guard let space = line.firstIndex(of: " ") else { return nil }
            let id = String(line[line.index(after: space)...])
            let inItem = id.firstIndex(of: "/").map { String(id[id.index(after: $0)...]) } ?? id
            let names = [id, inItem, FileRole.recordingName(inItem)]
            return FetchRecord(names.map(EpisodeMark.id) + names.map(EpisodeMark.file))
        }
    }
}
