import BookModel

/// How far the pages of a listing have come, when to stop, and what the whole of them proves.
///
/// Catalogs cap the page size silently, repeat their last page for ever, or answer with empty pages past the end. So
/// the listing goes on until the distinct episodes reach the declared number, a page is empty, or a page brings
/// nothing new; then the count is held against the declaration. Catalogs that declare too little are read on, because
/// what they list is there.
struct ListingProgress {
    /// Against catalogs that invent episodes for ever.
    struct Ceiling {
        var pages = 20_000
        var episodes = CatalogContents.maxEpisodes
    }

    enum Step: Equatable {
        case nextPage
        case stop
    }

    private enum Ending {
        case declaredReached, emptyPage
        case nothingNew(isShortPage: Bool)
        case ceiling
    }

    /// The last sensible number that a page declared.
    private(set) var declared: Int?
    /// Distinct episodes so far.
    private(set) var collected = 0
    /// The number of the page that is being read, or read next.
    private(set) var page = 1
    private var warnings: [Message] = []
    private var keys: Set<String> = []
    private var newOnPage = 0
    private var repeatedOnPage = 0
    private var namelessOnPage = 0
    private var unfetchableOnPage = 0
    /// True if a page could not be read, or not all of it.
    private var hasGaps = false
    private var ending: Ending?
    private let pageSize: Int
    private let ceiling: Ceiling

    init(pageSize: Int, ceiling: Ceiling = Ceiling()) {
        self.pageSize = pageSize
        self.ceiling = ceiling
    }

    /// Takes note of what the page at hand declares; nil and zero, which pages past the end declare, mean nothing.
    mutating func declare(_ sections: Int?) {
        if let sections, sections > 0 { declared = sections }
    }

    /// Takes note of an element of the page at hand.
    ///
    /// - Parameter catalog: the address that the page came from.
    /// - Returns: its episode; nil when it has no identity, or was listed before.
    mutating func admit(_ value: JSONValue, of book: BookIdentity, from catalog: ResourceAddress) -> Episode? {
        let element = BookResourceElement(value)
        let key = element?.key
        guard admit(key), let element, let key else { return nil }
        let episode = element.episode(
            identity: EpisodeIdentity(book: book, key: key), position: collected, catalog: catalog)
        if episode.isLocked, element.namesAddress { unfetchableOnPage += 1 }
        return episode
    }

    /// Ends a page that cannot be read: the next one may list more.
    mutating func skipPage(because why: Message) {
        hasGaps = true
        warn("page \(page) cannot be read: \(why); the listing counts as incomplete")
        page += 1
    }

    /// - Parameter key: nil for an element that has no identity.
    /// - Returns: whether the episode is a new one.
    private mutating func admit(_ key: String?) -> Bool {
        guard let key else {
            namelessOnPage += 1
            return false
        }
        guard keys.insert(key).inserted else {
            repeatedOnPage += 1
            return false
        }
        newOnPage += 1
        collected += 1
        return true
    }

    /// Whether more episodes came than any book has.
    var isBeyondCeiling: Bool {
        collected >= min(ceiling.episodes, declared.map { $0 < ceiling.episodes ? $0 * 2 + 1000 : .max } ?? .max)
    }

    /// Whether the catalog neither lists nor declares a single episode.
    var isEmpty: Bool { collected == 0 && namelessOnPage == 0 && declared == nil }

    /// Ends the page at hand.
    mutating func endPage() -> Step {
        let elements = newOnPage + repeatedOnPage + namelessOnPage
        if namelessOnPage > 0 {
            hasGaps = true
            warn("page \(page) lists \(Self.episodes(namelessOnPage)) without id and section: left out")
        }
        if repeatedOnPage > 0, newOnPage > 0 {
            warn("page \(page) lists \(Self.episodes(repeatedOnPage)) a second time: the first of each is kept")
        }
        if unfetchableOnPage > 0 {
            warn("page \(page) lists \(Self.episodes(unfetchableOnPage)) with an address that cannot be fetched")
        }
        if elements == 0 {
            ending = .emptyPage
        } else if newOnPage == 0 {
            ending = .nothingNew(isShortPage: elements < pageSize)
        } else if let declared, declared == collected {
            ending = .declaredReached
        } else if isBeyondCeiling || page >= ceiling.pages {
            ending = .ceiling
        }
        newOnPage = 0
        repeatedOnPage = 0
        namelessOnPage = 0
        unfetchableOnPage = 0
        page += 1
        return ending == nil ? .nextPage : .stop
    }

    /// What the finished listing proves.
    func proof() -> ListingProof {
        var warnings = warnings
        let isComplete: Bool
        switch (ending, declared) {
        case (.declaredReached, _): isComplete = true
        case (.ceiling, _), (nil, _):
            isComplete = false
            warnings.append(
                "the catalog goes on after \(Self.episodes(collected)) on \(page - 1) pages, "
                    + (declared.map { "though it declares \($0)" } ?? "which no book has")
                    + ": the listing was stopped and counts as incomplete")
        case (_, let declared?):
            isComplete = collected >= declared
            if collected != declared {
                warnings.append(
                    "the catalog declares \(Self.episodes(declared)) and lists \(collected)"
                        + (isComplete ? "" : ": the listing counts as incomplete"))
            }
        case (.emptyPage, nil): isComplete = true
        case (.nothingNew(let isShortPage), nil):
            isComplete = isShortPage
            if !isShortPage {
                warnings.append(
                    "the catalog repeats a full page and does not say how many episodes there are: the listing "
                        + "counts as incomplete")
            }
        }
        return ListingProof(
            declared: declared, collected: collected, isComplete: isComplete && !hasGaps, warnings: warnings)
    }

    private static let maxWarnings = 20

    private mutating func warn(_ sentence: Message) {
        guard warnings.count <= Self.maxWarnings else { return }
        warnings.append(
            warnings.count < Self.maxWarnings ? sentence : "and more of the same on later pages")
    }

    private static func episodes(_ count: Int) -> Message { Message(count, "episode") }
}
