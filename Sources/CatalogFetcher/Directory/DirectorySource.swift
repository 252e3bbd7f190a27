import BookModel
import Transport

/// Directories on a web server, each a book.
package struct DirectorySource: CatalogSource {
    let settings: DirectorySettings
    let client: CatalogClient

    /// Folders of one book that are read at most.
    static let maxFolders = 1000

    package func list(_ book: BookIdentity, onPage: PageHandler) async throws -> CatalogListing {
        guard let directory = settings.directory(of: book.id) else { throw noAddress(book) }
        let subject = ErrorContext(book: book, part: "the directory")
        let (page, address) = try await page(at: directory, for: subject)
        var found = DirectoryBook(book, at: address)
        found.add(page, in: [])
        try await readFolders(of: page, of: book, into: &found)
        guard found.hasAudio else { throw page.failureWithoutAudio(subject, depth: settings.depth) }
        let contents = found.contents()
        try await contents.deliver(to: onPage)
        return contents.listing
    }

    /// Goes down level by level. A folder that cannot be read makes the listing incomplete; the others are still read.
    private func readFolders(
        of page: DirectoryPage, of book: BookIdentity, into found: inout DirectoryBook
    ) async throws {
        var level = Self.folders(of: page, in: [])
        var count = 0
        for _ in 1..<max(settings.depth, 1) {
            var next: [(path: [String], address: ResourceAddress)] = []
            for folder in level {
                guard count < Self.maxFolders else { return found.stop(after: count) }
                count += 1
                let subject = ErrorContext(book: book, part: "the folder '\(folder.path.joined(separator: "/"))'")
                do {
                    let (page, _) = try await self.page(at: folder.address, for: subject)
                    found.add(page, in: folder.path)
                    next += Self.folders(of: page, in: folder.path)
                } catch let failure as Failure where failure.disposition != .stop {
                    found.miss(folder.path, why: failure.why)
                }
            }
            level = next
        }
    }

    /// The folders of a page in natural order.
    private static func folders(
        of page: DirectoryPage, in path: [String]
    ) -> [(path: [String], address: ResourceAddress)] {
        page.entries.filter { $0.isFolder && $0.path.count == 1 }
            .map { (path + $0.path, $0.address) }
            .sorted { NaturalOrder.precedes($0.0, $1.0) }
    }

    private func page(
        at address: ResourceAddress, for subject: ErrorContext
    ) async throws -> (DirectoryPage, ResourceAddress) {
        let credentials = settings.credentials(for: address)
        let (bytes, end) = try await client.fetch(credentials.request(address), for: subject) { .document($0) }
        return (try DirectoryPage(bytes, at: end, for: subject, secrets: credentials.secrets), end)
    }

    private func noAddress(_ book: BookIdentity) -> Failure {
        let isAddress = settings.address != nil || book.id.contains("://")
        return Failure(
            isAddress ? .unknownBook : .configuration, disposition: .skip,
            what: "source \(book.source) has no directory '\(book.id)'",
            why: isAddress ? "that is no path of a folder" : "the source has no url that it could be found below",
            remedy: isAddress
                ? "name a folder below the source's url, or a whole address that ends in '/'"
                : "set sources.\(book.source).url in the configuration")
    }
}

extension DirectoryPage {
    /// - Throws: ``Failure`` of kind `unreadableCatalog` for an empty page and for JSON that is none.
    init(
        _ bytes: [UInt8], at address: ResourceAddress, for subject: ErrorContext, secrets: SecretMask
    ) throws {
        guard CatalogResponse(bytes: bytes).firstByte != nil else {
            throw subject.unreadable(why: "the answer is empty")
        }
        do throws(JSONFailure) {
            self = try DirectoryPage(bytes, at: address)
        } catch {
            throw subject.unreadable(why: CatalogClient.complaint(about: bytes, error, secrets: secrets))
        }
        guard isIndex || entries.contains(where: { FileRole(ofName: $0.name).isAudio || $0.isFolder }) else {
            let named = title.map { ", it is called '\(CatalogText.quotation($0, length: 80))'" } ?? ""
            throw subject.unreadable(why: "the answer is no index of a directory\(named)")
        }
    }

    /// Why a directory is no book.
    func failureWithoutAudio(_ subject: ErrorContext, depth: Int) -> Failure {
        let folders = entries.count { $0.isFolder }
        guard folders > 0, depth < DirectorySettings.depths.upperBound else {
            return subject.unknownBook(why: "the directory lists no audio files")
        }
        let those = Message(folders, "folder")
        return subject.unknownBook(
            why: "the directory lists no audio files, only \(those): a greater depth in the source's "
                + "configuration reads folders as discs")
    }
}

extension DirectorySettings: CatalogFormat {
    /// No address tells that it is a directory's: only the answer does.
    package static func bookID(in address: ResourceAddress) -> String? { nil }

    /// The answer's lasting address without secrets, when it is an index or links to audio below itself.
    package static func bookID(in answer: CatalogResponse) -> String? {
        let address = answer.address ?? unknownAddress
        guard let first = answer.firstByte, [UInt8(ascii: "<"), UInt8(ascii: "[")].contains(first) else { return nil }
        let page: DirectoryPage
        do throws(JSONFailure) {
            page = try DirectoryPage(answer.bytes, at: address)
        } catch {
            return nil
        }
        let holdsAudio = page.entries.contains { FileRole(ofName: $0.name).isAudio }
        return page.isIndex || holdsAudio ? answer.lastingAddress?.withoutSecrets ?? savedID : nil
    }

    /// Stands in for the address of a page that was saved without it, so that relative links lead somewhere.
    static let unknownAddress = ResourceAddress("http://saved.invalid/")

    package func read(_ answer: CatalogResponse, source: String, id: String?) throws -> CatalogContents {
        let address = answer.address ?? id.flatMap { directory(of: $0) } ?? Self.unknownAddress
        let isKnown = address != Self.unknownAddress
        let identity = BookIdentity(
            source: source, id: id ?? (isKnown ? address.withoutSecrets : Self.savedID))
        let subject = ErrorContext(book: identity, part: "the directory")
        let page = try DirectoryPage(answer.bytes, at: address, for: subject, secrets: credentials.secrets)
        var book = DirectoryBook(identity, at: address)
        book.add(page, in: [])
        guard book.hasAudio else { throw page.failureWithoutAudio(subject, depth: depth) }
        return book.contents()
    }

    package func source(over client: CatalogClient) -> any CatalogSource {
        DirectorySource(settings: self, client: client.limited(to: 64 << 20))
    }
}
