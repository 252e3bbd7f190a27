import BookModel
import Foundation
import Transport

/// One file or folder of a directory page.
struct DirectoryEntry: Hashable, Sendable {
    /// The names of the path below the page; one, unless links lead further down.
    var path: [String]
    var isFolder: Bool
    var address: ResourceAddress
    /// Bytes, as the page says; nil where it rounds them, or says nothing.
    var size: Int64?
    /// As the page shows it, which is in the server's own time zone and as a rule without seconds.
    var modifiedAt: Date?

    var name: String { path.last ?? "" }
    /// The path below the page.
    var key: String { path.joined(separator: "/") }
}

/// Tells what a page's links lead to: the files and folders below the page, and nothing else.
struct DirectoryLinks {
    private let page: ResourceAddress
    private let server: String
    private let folder: [[UInt8]]

    /// - Parameter page: the address of the page; its folder ends with the last slash of its path.
    init(page: ResourceAddress) {
        self.page = page
        server = page.server
        let path = page.pathText
        folder = Self.segments(path.lastIndex(of: "/").map { path[...$0] } ?? "")
    }

    private static func segments(_ path: Substring) -> [[UInt8]] {
        path.split(separator: "/").map { AddressPath.decoded($0) }
    }

    /// What a link in a page leads to.
    ///
    /// - Parameter href: as written in the page, character references decoded.
    /// - Returns: nil for a link to the page itself, upwards, to another server, or to what is no web address.
    func entry(href: String) -> DirectoryEntry? {
        let text = CatalogText.trimmed(href)
        guard !text.isEmpty, text.utf8.count <= Self.maxAddress, !text.hasPrefix("?"),
            let address = page.resolving(text)
        else { return nil }
        return address.isOfWeb && address.server == server ? entry(address) : nil
    }

    /// What a name in a machine-readable index stands for.
    /// - Parameter name: as the server has it, in whatever encoding.
    func entry(name: [UInt8], isFolder: Bool) -> DirectoryEntry? {
        let segments = name.split(separator: UInt8(ascii: "/"))
        guard segments.count == 1, let name = segments.first,
            !AddressPath.isDots(String(decoding: name, as: UTF8.self)), name.count <= Self.maxAddress,
            let address = page.resolving(percentEncoded(name) + (isFolder ? "/" : ""))
        else { return nil }
        return entry(address)
    }

    private func entry(_ address: ResourceAddress) -> DirectoryEntry? {
        let path = address.pathText
        let decoded = Self.segments(path)
        let below = path.split(separator: "/").dropFirst(folder.count)
        guard decoded.count > folder.count, decoded.starts(with: folder),
            !decoded.contains(where: { AddressPath.isDots(String(decoding: $0, as: UTF8.self)) })
        else { return nil }
        let isFolder = path.hasSuffix("/")
        // A folder's address with a query is the folder sorted in another way.
        if isFolder, address.secretText.contains("?") { return nil }
        return DirectoryEntry(path: below.map { AddressPath.name($0) }, isFolder: isFolder, address: address)
    }

    /// Bytes. Servers refuse longer ones.
    private static let maxAddress = 16 << 10
}

/// What a row of a directory page says behind the link.
enum DirectoryRow {
    /// - Parameter text: the text behind the link, columns separated by white space.
    /// - Returns: the size where the row gives it to the byte (digits without a unit), and the time.
    static func read(_ text: String) -> (size: Int64?, modifiedAt: Date?) {
        let blanks = text.unicodeScalars.split { $0.isASCII ? $0.value <= 0x20 : $0.properties.isWhitespace }
        let words = blanks.map { Substring($0) }
        for (index, word) in words.enumerated().prefix(8) {
            let next = index + 1 < words.count ? words[index + 1] : ""
            guard let time = time(day: word, clock: next) else { continue }
            let size = index + 2 < words.count ? bytes(words[index + 2]) : nil
            return (size, time)
        }
        // Without a time a number may mean anything, unless there is nothing else.
        return (words.count == 1 ? bytes(words[0]) : nil, nil)
    }

    /// Digits alone: a number with a unit is rounded.
    static func bytes(_ word: some StringProtocol) -> Int64? {
        word.utf8.allSatisfy(\.isDigit) ? Int64(word) : nil
    }

    /// `13-Sep-2020 12:26`, `2020-09-13 12:26`, `2001-Sep-09 01:46:40`; read as UTC, because no page says otherwise.
    private static func time(day: Substring, clock: Substring) -> Date? {
        let parts = day.split(separator: "-", omittingEmptySubsequences: false)
        let clockParts = clock.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, (2...3).contains(clockParts.count),
            clockParts.allSatisfy({ $0.count == 2 && $0.utf8.allSatisfy(\.isDigit) })
        else { return nil }
        let (year, dayOfMonth) = parts[0].count == 4 ? (parts[0], parts[2]) : (parts[2], parts[0])
        guard year.count == 4 else { return nil }
        return CatalogDate.date(parsing: "\(year)-\(parts[1])-\(dayOfMonth) \(clock)")
    }

    /// `2001-09-09T01:46:40Z`, as `time` elements and XML write it; `2001-09-09 01:46:40.5 +0000 UTC`, as rclone does; a
    /// date of HTTP, as nginx's JSON has it.
    /// - Returns: to the second; nil for a day without a time.
    static func exactTime(_ text: String) -> Date? {
        guard text.utf8.count >= 16, text.contains(/\d[T ]\d/) else { return nil }
        // Of the second the beginning; and the name of a zone says what the offset before it says.
        let whole = text.replacing(/(:\d\d)[.,]\d+/) { $0.1 }.replacing(/(:\d\d ?[+-]\d{4}) .*/) { $0.1 }
        return CatalogDate.date(parsing: whole)
    }
}
