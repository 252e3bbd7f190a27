import BookModel
import CatalogFetcher
import Foundation
import SyncPlanner

extension ProgramRecords {
    /// castget's `.castgetrc`, and beside it in `.castget` a file for each channel with the addresses that were fetched.
    init(castgetConfiguration bytes: [UInt8], path: String, environment: [String: String]) {
        self.init(feeds: [])
        let besides = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
        let folders = [besides, (environment["HOME"] ?? "") + "/"].map { $0 + ".castget/" }
        let channels = Self.channels(in: String(decoding: bytes, as: UTF8.self))
        for (name, values) in channels where name != "*" {
            guard let url = values["url"] else { continue }
            let contents = folders.lazy.compactMap { FileManager.default.contents(atPath: $0 + name + ".xml") }.first
            let fetched = XMLElement.all(in: [UInt8](contents ?? Data())).elements.filter { $0.name == "enclosure" }
            let common = channels.first { $0.name == "*" }?.values
            feeds?.append(
                Feed(
                    address: ResourceAddress(url), folder: values["spool"] ?? common?["spool"],
                    records: fetched.compactMap { $0.attributes["url"] }.map { address in
                        let path = address.prefix { $0 != "?" && $0 != "#" }
                        return FetchRecord(
                            Self.marks(guid: nil, address: address, title: nil, published: nil),
                            file: path.split(separator: "/").last.map(String.init))
                    }))
        }
    }

    /// `[name]`, and below it `key=value`.
    private static func channels(in text: String) -> [(name: String, values: [String: String])] {
        var channels: [(name: String, values: [String: String])] = []
        for line in text.split(whereSeparator: \.isNewline).map({ $0.trimmingCharacters(in: .whitespaces) }) {
            if line.hasPrefix("["), line.hasSuffix("]") {
                channels.append((String(line.dropFirst().dropLast()), [:]))
            } else if !line.hasPrefix("#"), let sign = line.firstIndex(of: "="), !channels.isEmpty {
                let value = line[line.index(after: sign)...].trimmingCharacters(in: .whitespaces)
                channels[channels.count - 1].values[line[..<sign].trimmingCharacters(in: .whitespaces)] = value
            }
        }
        return channels
    }
}
