import BookModel
import Foundation

/// One page of a directory index: what nginx, Apache, lighttpd, Caddy and Python's `http.server` write as HTML, nginx
/// as JSON or XML, and Caddy as JSON.
struct DirectoryPage: Sendable {
    /// Files and folders below the page, in its order, each once.
    private(set) var entries: [DirectoryEntry] = []
    /// What the page calls itself; nil when it does not.
    private(set) var title: String?
    /// Whether it is written like an index, whatever it lists.
    private(set) var isIndex = false
    /// Why there may be more than was read; nil when the page was read to its end.
    private(set) var shortfall: Message?
    /// By their bytes: a name with an accent of its own and one with a combining accent are two files and equal strings.
    private var keys: Set<[UInt8]> = []
    private var strings: Set<String> = []

    private static let maxEntries = 500_000

    /// - Parameter address: where the page came from in the end.
    /// - Throws: `JSONFailure` for JSON that is none.
    init(_ bytes: [UInt8], at address: ResourceAddress) throws(JSONFailure) {
        let links = DirectoryLinks(page: address)
        let first = CatalogResponse(bytes: bytes).firstByte
        if first == UInt8(ascii: "[") || first == UInt8(ascii: "{") {
            let readsLatin1 = HTMLReader.isLatin1(bytes)
            read(
                try JSONReader.read(readsLatin1 ? HTMLReader.latin1(bytes) : bytes), links: links,
                readsLatin1: readsLatin1)
        } else {
            readMarkup(bytes, links: links)
        }
    }

    private mutating func add(_ entry: DirectoryEntry?) {
        guard var entry else { return }
        guard entries.count < Self.maxEntries else {
            shortfall = "it lists more than \(Self.maxEntries) files"
            return
        }
        guard keys.insert(Array(entry.key.utf8)).inserted else { return }
        if !strings.insert(entry.key).inserted { entry.path = entry.path.map { AddressPath.encoded($0) } }
        entries.append(entry)
    }

    // MARK: JSON

    private mutating func read(_ document: JSONValue, links: DirectoryLinks, readsLatin1: Bool) {
        isIndex = document.kind == .array
        for element in document.elements {
            var name: String?
            var isFolder = false
            var size: Int64?
            var modifiedAt: Date?
            for (key, member) in element.members {
                switch key {
                case "name": name = member.string
                case "type": isFolder = isFolder || member.string == "directory"
                case "is_dir": isFolder = isFolder || member.source == "true"
                case "size": size = member.integer
                case "mtime", "mod_time":
                    modifiedAt = member.string.flatMap { DirectoryRow.exactTime($0) }
                default: break
                }
            }
            guard let name,
                var entry = links.entry(name: Self.bytes(of: name, readsLatin1: readsLatin1), isFolder: isFolder)
            else {
                isIndex = false
                continue
            }
            entry.size = isFolder ? nil : size
            entry.modifiedAt = modifiedAt
            add(entry)
        }
    }

    /// The bytes that a name in a machine-readable index was written with.
    private static func bytes(of name: String, readsLatin1: Bool) -> [UInt8] {
        guard readsLatin1 else { return Array(name.utf8) }
        return name.unicodeScalars.flatMap { scalar in
            scalar.value < 0x100 ? [UInt8(scalar.value)] : Array(String(scalar).utf8)
        }
    }

    // MARK: HTML and XML

    private mutating func readMarkup(_ bytes: [UInt8], links: DirectoryLinks) {
        let reader = Reader(readsLatin1: HTMLReader.isLatin1(bytes))
        let ending = HTMLReader.read(bytes, into: reader)
        reader.finish()
        let title = CatalogText.name(String(decoding: reader.title, as: UTF8.self))
        let heading = CatalogText.name(String(decoding: reader.heading, as: UTF8.self))
        self.title = [title, heading].first { !$0.isEmpty }
        let begins = { (text: String) in [title, heading].contains { $0.lowercased().hasPrefix(text) } }
        isIndex =
            reader.isXMLList || begins("index of /") || begins("directory listing for /") || reader.hasListLinks
        for row in reader.rows {
            var entry =
                row.isName
                ? links.entry(
                    name: Self.bytes(of: row.link, readsLatin1: reader.readsLatin1), isFolder: row.isFolder)
                : links.entry(href: row.link)
            let (size, modifiedAt) = DirectoryRow.read(String(decoding: row.tail, as: UTF8.self))
            if entry?.isFolder == false { entry?.size = row.size ?? size }
            entry?.modifiedAt = row.modifiedAt ?? modifiedAt
            add(entry)
        }
        if case .stopped(let why) = ending {
            shortfall = "reading was stopped where \(why)"
        } else if isCut(bytes) {
            shortfall = "it ends in the middle"
        }
    }

    /// True if the page ends within a tag or a link, or is an index without the end that its server writes last. Pages
    /// that people write often have no such end.
    private func isCut(_ bytes: [UInt8]) -> Bool {
        let tail = String(decoding: bytes.suffix(4096), as: UTF8.self).lowercased()
        if ["</html>", "</body>", "</list>"].contains(where: { tail.contains($0) }) { return false }
        func isOpen(_ start: String, until end: String) -> Bool {
            guard let start = tail.range(of: start, options: .backwards) else { return false }
            return tail.range(of: end, options: .backwards).map { $0.lowerBound < start.lowerBound } ?? true
        }
        return isIndex || isOpen("<", until: ">") || isOpen("<a ", until: "</a")
    }

    /// A page's title without what only says that it is an index.
    static func plainTitle(_ title: String) -> String? {
        var text = Substring(title)
        for prefix in ["index of /", "directory listing for /"] where text.lowercased().hasPrefix(prefix) {
            text = text.dropFirst(prefix.count)
        }
        let name = CatalogText.trimmed(text.split(separator: "/").last.map(String.init) ?? "")
        return name.isEmpty ? nil : name
    }
}

extension DirectoryPage {
    /// Gathers the links of a page with what stands behind each.
    private final class Reader: HTMLHandler {
        struct Row {
            /// An address, or where the page is XML a name.
            var link: String
            var isName = false
            var isFolder = false
            var size: Int64?
            var modifiedAt: Date?
            var tail: [UInt8] = []

            mutating func append(_ piece: UnsafeBufferPointer<UInt8>) { Reader.append(piece, to: &tail) }
        }

        let readsLatin1: Bool
        private(set) var rows: [Row] = []
        private(set) var title: [UInt8] = []
        private(set) var heading: [UInt8] = []
        private(set) var isXMLList = false
        /// Whether there are links that only an index has: those that sort it, or Caddy's row of headings.
        private(set) var hasListLinks = false
        private var row: Row?
        private var position = Position.elsewhere

        private enum Position {
            case elsewhere, title, heading, link, tail, name
        }

        init(readsLatin1: Bool) {
            self.readsLatin1 = readsLatin1
        }

        func open(_ name: String, attributes: [String: String]) {
            switch name {
            case "title" where title.isEmpty && position == .elsewhere: position = .title
            case "h1" where heading.isEmpty && position == .elsewhere: position = .heading
            case "a":
                endRow()
                guard let href = attributes["href"] else { return }
                let sorts = href.hasPrefix("?C=") && href.contains("O=")
                hasListLinks = hasListLinks || sorts || href.hasPrefix("?sort=") && href.contains("order=")
                row = Row(link: address(href))
                position = .link
            case "file", "directory":
                endRow()
                isXMLList = isXMLList || attributes["mtime"] != nil
                row = Row(link: "", isName: true, isFolder: name == "directory")
                row?.size = attributes["size"].flatMap { DirectoryRow.bytes($0) }
                row?.modifiedAt = attributes["mtime"].flatMap { DirectoryRow.exactTime($0) }
                position = .name
            case "td":
                // Caddy: sizes are shown rounded, and sorted by the exact ones.
                if position == .tail, row?.size == nil {
                    row?.size = (attributes["data-size"] ?? attributes["data-order"]).flatMap { DirectoryRow.bytes($0) }
                }
                separate()
            case "time": row?.modifiedAt = attributes["datetime"].flatMap { DirectoryRow.exactTime($0) }
            case "tr", "li", "hr", "ul", "pre", "table": endRow()
            default: break
            }
        }

        func close(_ name: String) {
            switch name {
            case "title", "h1": if position == .title || position == .heading { position = .elsewhere }
            case "a": if position == .link { position = .tail }
            case "file", "directory", "tr", "li", "pre", "table", "ul": endRow()
            case "td": separate()
            default: break
            }
        }

        func text(_ piece: UnsafeBufferPointer<UInt8>) {
            switch position {
            case .title: Self.append(piece, to: &title)
            case .heading: Self.append(piece, to: &heading)
            case .tail: row?.append(piece)
            case .name: row?.link += String(decoding: piece, as: UTF8.self)
            case .link, .elsewhere: break
            }
        }

        func finish() { endRow() }

        private func separate() {
            if position == .tail { row?.tail.append(0x20) }
        }

        private func endRow() {
            if let row, rows.count <= DirectoryPage.maxEntries { rows.append(row) }
            row = nil
            if position != .title && position != .heading { position = .elsewhere }
        }

        /// No more of a text than is worth reading.
        fileprivate static func append(_ piece: UnsafeBufferPointer<UInt8>, to text: inout [UInt8]) {
            text.append(contentsOf: piece.prefix(max(0, 1000 - text.count)))
        }

        /// Where the page is no UTF-8, its bytes are what the server knows the file by.
        private func address(_ href: String) -> String {
            guard readsLatin1, href.utf8.contains(where: { $0 >= 0x80 }) else { return href }
            return href.unicodeScalars.map { scalar in
                switch scalar.value {
                case ..<0x80: String(scalar)
                case ..<0x100: percentEncoded([UInt8(scalar.value)])
                default: AddressPath.encoded(String(scalar))
                }
            }.joined()
        }
    }
}
