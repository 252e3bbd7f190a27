import BookModel

/// A book as LibriVox's API tells it.
package struct LibriVoxBook {
    package private(set) var id: String?
    package private(set) var description = BookDescription()
    /// How many sections the book is said to have.
    package private(set) var declared: Int?
    /// The item of the Internet Archive that holds the files.
    package private(set) var archiveItem: String?
    /// How long it is said to play.
    package private(set) var seconds: Double?
    private(set) var sections: [LibriVoxSection] = []
    /// Elements of the list that are no sections.
    private(set) var unreadable = 0
    private(set) var hasList = false

    /// The book that was asked for, out of an answer that holds an array of books, or an object of them by index.
    ///
    /// - Parameter id: nil for the first book of the answer.
    /// - Throws: ``Failure`` of kind `unknownBook` when there is none, `unreadableCatalog` for what is no such answer.
    init(_ document: JSONValue, id wanted: String?, for subject: ErrorContext) throws {
        guard document.kind == .object else { throw subject.unreadable(why: "the answer is no LibriVox answer") }
        guard let books = document["books"] else {
            guard let complaint = document["error"]?.text else {
                throw subject.unreadable(why: "the answer has no list of books")
            }
            throw subject.unknownBook(why: "it answers \"\(CatalogText.quotation(complaint, length: 200))\"")
        }
        var others: [String] = []
        for book in Self.values(books) {
            let id = book["id"]?.text.map { CatalogText.trimmed($0) }
            if wanted == nil || id == nil || id == wanted {
                self.init(book)
                return
            }
            if others.count < 3 { others.append(id ?? "") }
        }
        guard !others.isEmpty else { throw subject.unknownBook(why: "LibriVox lists no such book") }
        let shown = CatalogText.quotation(others.joined(separator: ", "), length: 60)
        throw subject.unreadable(why: "the answer is about other books (\(shown))")
    }

    /// All books of an answer.
    ///
    /// - Throws: ``Failure`` of kind `unreadableCatalog` for what is no such answer.
    package static func all(in document: JSONValue, for subject: ErrorContext) throws -> [LibriVoxBook] {
        if let books = document["books"] { return values(books).map { LibriVoxBook($0) } }
        guard document["error"] != nil else { throw subject.unreadable(why: "the answer has no list of books") }
        return []
    }

    private init(_ book: JSONValue) {
        for (key, value) in book.members {
            switch key {
            case "id": id = CatalogText.id(value.text)
            case "title": description.title = value.name
            case "language": description.language = value.text.flatMap(CatalogText.language)
            case "description": description.summary = value.text.flatMap(HTMLText.paragraph)
            case "num_sections":
                declared = value.integer.flatMap { (1...99_999).contains($0) ? Int($0) : nil }
            case "totaltimesecs": seconds = value.double.flatMap { $0 > 0 ? $0 : nil }
            case "url_iarchive":
                archiveItem = value.text.flatMap { ArchiveAddress.item(in: $0) } ?? archiveItem
            case "url_zip_file":
                archiveItem = archiveItem ?? value.text.flatMap { ArchiveAddress.item(in: $0) }
            case "coverart_jpg":
                description.cover = value.text.flatMap { LibriVoxSection.address($0) }
            case "authors":
                let names = Self.values(value, limit: 5).compactMap { author in
                    let names = [author["first_name"], author["last_name"]].compactMap { $0?.name }
                    return names.isEmpty ? nil : names.joined(separator: " ")
                }
                description.author = names.isEmpty ? nil : names.joined(separator: ", ")
            case "sections":
                hasList = value.kind == .array || value.kind == .object
                for element in Self.values(value) {
                    if let section = LibriVoxSection(element) { sections.append(section) } else { unreadable += 1 }
                }
            default: break
            }
        }
        description.narrator = Self.narrator(of: sections)
    }

    /// The elements of an array, or of an object in the order in which it was written; no more of them than any book has.
    private static func values(_ value: JSONValue, limit: Int = 100_000) -> [JSONValue] {
        value.kind == .array ? Array(value.elements.prefix(limit)) : value.members.prefix(limit).map(\.value)
    }

    private static func narrator(of sections: [LibriVoxSection]) -> String? {
        var names: [String] = []
        for reader in sections.flatMap(\.readers) where !names.contains(reader) && names.count < 4 {
            names.append(reader)
        }
        guard !names.isEmpty else { return nil }
        return names.count <= 3
            ? names.joined(separator: ", ") : names.prefix(3).joined(separator: ", ") + " and others"
    }

    /// The sections' file names without what only says how they are encoded, by the sections' ids.
    var recordingNames: [String: String] {
        let names = sections.compactMap { section in
            section.id.flatMap { id in section.recordingName.map { (id, $0) } }
        }
        return Dictionary(names) { first, _ in first }
    }

    /// The book as far as LibriVox alone tells it; sections without an address are locked.
    func contents(as identity: BookIdentity) -> CatalogContents {
        let numbers = sections.compactMap(\.number)
        let areNumbered = numbers.count == sections.count && Set(numbers).count == numbers.count
        var keys: Set<String> = []
        var episodes: [Episode] = []
        var repeated = 0
        for (index, section) in sections.enumerated() {
            let number = areNumbered ? section.number ?? index + 1 : index + 1
            let key = section.id ?? "section-\(number)"
            guard keys.insert(key).inserted else {
                repeated += 1
                continue
            }
            episodes.append(
                Episode(
                    identity: EpisodeIdentity(book: identity, key: key), section: number, name: section.title,
                    address: section.address, duration: section.duration,
                    mediaType: section.address.flatMap { FileRole(ofName: $0.pathText).mediaType },
                    number: section.number))
        }
        return CatalogContents(
            identity: identity, episodes: episodes,
            listing: CatalogListing(
                proof: proof(collected: episodes.count, repeated: repeated), description: description,
                inferredTitle: TitleInference.title(from: episodes.map(\.name))))
    }

    private func proof(collected: Int, repeated: Int) -> ListingProof {
        var proof = ListingProof(
            declared: declared, collected: collected,
            isComplete: unreadable == 0 && hasList && collected >= declared ?? (collected == 0 ? 1 : 0))
        if let declared, declared != collected {
            proof.miscounts = unreadable == 0 && collected > 0
            proof.warnings.append(
                "LibriVox declares \(Message(declared, "section")) and lists \(collected)"
                    + (proof.isComplete ? "" : ": the listing counts as incomplete"))
        }
        if repeated > 0 {
            proof.warnings.append("\(Message(repeated, "section")) listed a second time: the first of each is kept")
        }
        if unreadable > 0 { proof.warnings.append("\(unreadable) of the listed sections cannot be read: left out") }
        return proof
    }
}
