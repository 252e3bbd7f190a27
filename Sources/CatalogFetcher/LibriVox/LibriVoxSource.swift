import BookModel
import Transport

/// LibriVox through its API. Two thirds of its books are listed without the addresses of their files; those are looked
/// up in the book's item of the Internet Archive, and so are addresses at which there is nothing.
package struct LibriVoxSource: MirroredCatalog {
    let settings: LibriVoxSettings
    let client: CatalogClient

    private var archive: InternetArchiveSource { InternetArchiveSource(settings: settings.archive, client: client) }

    package func list(_ book: BookIdentity, onPage: PageHandler) async throws -> CatalogListing {
        let subject = ErrorContext(book: book, part: "the listing")
        let found = try await read(book, for: subject)
        var contents = found.contents(as: book)
        if contents.episodes.contains(where: \.isLocked) || contents.episodes.isEmpty {
            try await resolve(&contents, of: found)
        }
        guard !contents.episodes.isEmpty else {
            throw subject.unknownBook(why: "LibriVox lists the book without a single section")
        }
        try await contents.deliver(to: onPage)
        return contents.listing
    }

    package func mirrorAddresses(of book: BookIdentity) async throws -> [String: ResourceAddress] {
        let found = try await read(book, for: ErrorContext(book: book, part: "the listing"))
        guard let item = found.archiveItem else { return [:] }
        let (files, originalLengths) = try await archive.contents(of: item, as: book)
        var contents = found.contents(as: book)
        for index in contents.episodes.indices { contents.episodes[index].address = nil }
        _ = contents.takeFiles(of: files.episodes, originalLengths: originalLengths, names: found.recordingNames)
        return contents.episodes.reduce(into: [:]) { $0[$1.identity.key] = $1.address }
    }

    private func read(_ book: BookIdentity, for subject: ErrorContext) async throws -> LibriVoxBook {
        guard !book.id.isEmpty, book.id.utf8.count <= 12, book.id.utf8.allSatisfy(\.isDigit) else {
            throw subject.unknownBook(why: "LibriVox's ids are numbers")
        }
        let (document, _) = try await client.fetchJSON(
            settings.credentials.request(settings.bookAddress(of: book.id)), for: subject,
            secrets: settings.credentials.secrets)
        return try LibriVoxBook(document, id: book.id, for: subject)
    }

    /// Looks the files up in the archive. An archive that cannot be reached now ends the listing: to call two thirds of
    /// all books locked until it can be would be a lie.
    private func resolve(_ contents: inout CatalogContents, of book: LibriVoxBook) async throws {
        guard let item = book.archiveItem else {
            contents.warnOfMissingAddresses("it names no archive item that would have them")
            return
        }
        let found: CatalogContents
        let originalLengths: [String: Double]
        do {
            (found, originalLengths) = try await archive.contents(of: item, as: contents.identity)
        } catch let failure as Failure where failure.kind == .unknownBook || failure.kind == .unreadableCatalog {
            contents.warnOfMissingAddresses("archive item \(item) does not help: \(failure.why)")
            return
        }
        if contents.episodes.isEmpty {
            contents.episodes = found.episodes
        } else {
            let refused = contents.takeFiles(
                of: found.episodes, originalLengths: originalLengths, names: book.recordingNames)
            contents.warnOfMissingAddresses("archive item \(item) has no file for them", except: refused)
            if refused > 0 {
                contents.listing.proof.warnings.append(
                    "\(refused) of \(contents.episodes.count) sections are left without a file: archive item \(item) has "
                        + "files with their titles or at their positions, and the playing times differ or fit several")
            }
        }
        contents.listing.description.cover = contents.listing.description.cover ?? found.listing.description.cover
        contents.listing.proof.collected = contents.episodes.count
    }
}

extension CatalogContents {
    /// Fills in what the sections without an address lack.
    ///
    /// - Parameters:
    ///   - files: those of the archive item, in its order.
    ///   - originalLengths: seconds that the originals of the files play, by the files' keys.
    ///   - names: the sections' file names without what says how they are encoded, by the sections' keys.
    /// - Returns: how many sections are refused a file because of the playing times.
    fileprivate mutating func takeFiles(
        of files: [Episode], originalLengths: [String: Double], names: [String: String]
    ) -> Int {
        let fileNames = files.map { file in
            FileRole.recordingName(
                file.address.flatMap { $0.pathText.split(separator: "/").last.map { AddressPath.name($0) } } ?? "")
        }
        let tracks = files.map(\.number)
        let numbers = tracks.allSatisfy { $0 == nil } ? NumbersInNames.numbers(in: fileNames) : tracks
        let match = ArchiveMatch(
            sections: episodes.map { section in
                ArchiveMatch.Track(
                    fileName: names[section.identity.key], title: section.name, length: section.duration,
                    number: section.number)
            },
            recordings: files.indices.map { index in
                ArchiveMatch.Track(
                    fileName: fileNames[index], title: files[index].name, length: files[index].duration,
                    originalLength: originalLengths[files[index].identity.key], number: numbers[index])
            })
        let locked = episodes.indices.filter { episodes[$0].isLocked }
        for index in locked {
            guard let file = match.matches[index].map({ files[$0] }) else { continue }
            episodes[index].address = file.address
            episodes[index].size = file.size
            episodes[index].digest = file.digest
            episodes[index].mediaType = file.mediaType
            episodes[index].modifiedAt = file.modifiedAt
            episodes[index].duration = file.duration ?? episodes[index].duration
            if episodes[index].name.isEmpty { episodes[index].name = file.name }
        }
        return match.refused.intersection(locked).count
    }

    fileprivate mutating func warnOfMissingAddresses(_ why: Message, except others: Int = 0) {
        let count = episodes.count { $0.isLocked } - others
        guard count > 0 else { return }
        listing.proof.warnings.append(
            "LibriVox gives no address for \(count) of \(episodes.count) sections: \(why)")
    }
}

extension LibriVoxSettings: CatalogFormat {
    /// Only feeds and API addresses hold the number; a book's own page does not (see ``bookID(in:)-(CatalogResponse)``).
    package static func bookID(in address: ResourceAddress) -> String? {
        guard isOfLibriVox(address) else { return nil }
        let segments = address.pathText.split(separator: "/")
        if segments.count == 2, segments[0] == "rss", segments[1].utf8.allSatisfy(\.isDigit) {
            return String(segments[1])
        }
        guard segments.starts(with: ["api", "feed", "audiobooks"]) else { return nil }
        let query = address.secretText.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        let id = query.split(separator: "&").first { $0.hasPrefix("id=") }?.dropFirst(3)
        return id.flatMap { !$0.isEmpty && $0.utf8.allSatisfy(\.isDigit) ? String($0) : nil }
    }

    /// Whether an address is one of LibriVox's own.
    package static func isOfLibriVox(_ address: ResourceAddress) -> Bool {
        address.isOf(domain: "librivox.org")
    }

    /// Of an answer of the API, or of a book's page on LibriVox's site, which links to the book's feed.
    package static func bookID(in answer: CatalogResponse) -> String? {
        if let object = answer.object {
            guard let books = object["books"], books.kind == .array || books.kind == .object else { return nil }
            let subject = ErrorContext(book: BookIdentity(source: "", id: ""), part: "")
            do {
                return try LibriVoxBook(object, id: nil, for: subject).id ?? savedID
            } catch {
                return nil
            }
        }
        guard answer.firstByte == UInt8(ascii: "<"), answer.address.map({ isOfLibriVox($0) }) ?? true else {
            return nil
        }
        let finder = FeedLinkFinder()
        _ = HTMLReader.read(Array(answer.bytes.prefix(1 << 20)), into: finder)
        return finder.id
    }

    package func read(_ answer: CatalogResponse, source: String, id: String?) throws -> CatalogContents {
        let asked = BookIdentity(source: source, id: id ?? Self.savedID)
        let subject = ErrorContext(book: asked, part: "the listing")
        let book = try LibriVoxBook(try answer.json(for: subject), id: id, for: subject)
        var contents = book.contents(as: BookIdentity(source: source, id: id ?? book.id ?? Self.savedID))
        contents.warnOfMissingAddresses(
            book.archiveItem.map { "its archive item \($0) was not asked" }
                ?? "it names no archive item that would have them")
        return contents
    }

    package func source(over client: CatalogClient) -> any CatalogSource {
        LibriVoxSource(settings: self, client: client)
    }

    /// The first link of a page to a book's feed.
    private final class FeedLinkFinder: HTMLHandler {
        var id: String?

        func open(_ name: String, attributes: [String: String]) {
            guard id == nil, let href = attributes["href"] else { return }
            let address = href.hasPrefix("/") ? ResourceAddress("https://librivox.org" + href) : ResourceAddress(href)
            guard address.pathText.hasPrefix("/rss/") else { return }
            id = LibriVoxSettings.bookID(in: address)
        }

        func close(_ name: String) {}
        func text(_ piece: UnsafeBufferPointer<UInt8>) {}
    }
}
