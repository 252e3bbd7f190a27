import BookModel

extension BookResourceSettings: CatalogFormat {
    package static func bookID(in address: ResourceAddress) -> String? {
        guard address.pathText.hasSuffix("ClientGetBookResource.action") else { return nil }
        let query = address.secretText.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        let id = query.split { $0 == "&" || $0 == "#" }.first { $0.hasPrefix("bookId=") }?.dropFirst("bookId=".count)
        return id.flatMap { $0.isEmpty ? nil : AddressPath.name($0) }
    }

    package static func bookID(in answer: CatalogResponse) -> String? {
        guard let object = answer.object, object["books"] == nil, object["files"] == nil,
            case .list(let elements) = BookResourceAnswer(object).elements,
            elements.prefix(10).contains(where: { BookResourceElement($0)?.key != nil })
        else { return nil }
        return CatalogText.id(object["bookId"]?.text)
            ?? elements.lazy.compactMap { CatalogText.id($0["bookId"]?.text) }.first ?? savedID
    }

    /// One page of a book: what the other pages would bring is missing.
    package func read(_ answer: CatalogResponse, source: String, id: String?) throws -> CatalogContents {
        let asked = BookIdentity(source: source, id: id ?? Self.savedID)
        let subject = ErrorContext(book: asked, part: "the page")
        let document = try answer.json(for: subject)
        let page = BookResourceAnswer(document)
        let none = SecretMask([])
        switch page.verdict {
        case .good: break
        case .unknownBook: throw subject.unknownBook(why: page.complaint(masked: none))
        case .credentialsRejected, .refused, .tooFrequent:
            throw subject.unreadable(why: page.complaint(masked: none))
        }
        let identity = BookIdentity(source: source, id: id ?? CatalogText.id(document["bookId"]?.text) ?? Self.savedID)
        var progress = ListingProgress(pageSize: pageSize)
        progress.declare(page.declared)
        var episodes: [Episode] = []
        switch page.elements {
        case .foreign(let why): throw subject.unreadable(why: why)
        case .missing: break
        case .list(let elements):
            for value in elements where !progress.isBeyondCeiling {
                let episode = progress.admit(value, of: identity, from: answer.address ?? listAddress)
                if let episode { episodes.append(episode) }
            }
        }
        if progress.isEmpty { throw subject.unknownBook(why: "the page lists no episodes") }
        let step = progress.endPage()
        var proof = progress.proof()
        if step == .nextPage, progress.declared == nil {
            proof.isComplete = false
            proof.warnings = ["one page was read, and it does not say how many episodes there are"]
        }
        return CatalogContents(
            identity: identity, episodes: episodes,
            listing: CatalogListing(proof: proof, inferredTitle: TitleInference.title(from: episodes.map(\.name))))
    }

    package func source(over client: CatalogClient) -> any CatalogSource {
        BookResourceSource(settings: self, client: client)
    }
}
