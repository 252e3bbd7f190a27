import BookModel
import BookSync

/// A book on the shelf.
struct BookCard: ViewModel {
    var rowID: String
    var page: String
    var cover: String
    var title: String
    var author: String?
    var counts: String
    var present: Int
    var episodes: Int
    var spoken: String
    /// How far the visitor is in it; nil where they never listened to it.
    var heard: String?
    /// Whether something of it is being downloaded.
    var isMoving = false
}

/// A link among others of its kind, of which one is where the visitor is.
struct ChoiceView: ViewModel {
    var href: String
    var label: String
    var count: String?
    var isCurrent: Bool
}

/// Where in something long a page is.
struct PagerView: ViewModel {
    struct Link: ViewModel {
        var number: String
        var href: String
        var label: String
        var isCurrent: Bool
        /// Whether pages are left out before it.
        var isBehindGap: Bool
    }

    var previous: String?
    var next: String?
    var links: [Link]
}

/// A part of something long.
struct PagePart: Sendable {
    /// From 1.
    let number: Int
    let count: Int
    let size: Int

    /// - Parameters:
    ///   - wanted: the number as the address gives it; what is none, or beyond the end, becomes one that there is.
    ///   - size: how many are on a page.
    init(_ wanted: String?, of total: Int, size: Int) {
        self.size = size
        count = max(1, (total + size - 1) / size)
        number = min(max(1, wanted.flatMap { Int($0) } ?? 1), count)
    }

    /// How many come before it.
    var first: Int { (number - 1) * size }

    /// - Parameter address: of the page of that number.
    func pager(_ phrases: Strings, _ address: (Int) -> String) -> PagerView? {
        guard count > 1 else { return nil }
        let shown = Set([1, number - 1, number, number + 1, count]).filter { (1...count) ~= $0 }.sorted()
        let links = shown.enumerated().map { rowID, page in
            PagerView.Link(
                number: phrases.number(page), href: address(page),
                label: phrases(.pageOf, ["page": phrases.number(page), "pages": phrases.number(count)]),
                isCurrent: page == number, isBehindGap: rowID > 0 && shown[rowID - 1] < page - 1)
        }
        return PagerView(
            previous: number > 1 ? address(number - 1) : nil, next: number < count ? address(number + 1) : nil,
            links: links)
    }
}

extension ViewMaker {
    func card(_ shelved: BookSummary, _ progress: ListeningProgress? = nil, isMoving: Bool = false) -> BookCard {
        let book = shelved.book
        let (present, episodes) = (phrases.number(shelved.present), phrases.number(shelved.episodes))
        let isWhole = shelved.missing == 0 && shelved.locked == 0 && shelved.present > 0
        return BookCard(
            rowID: book.identity.pathName, page: routes.page(of: book.identity),
            cover: routes.smallCover(of: book.identity), title: book.title, author: book.author ?? book.narrator,
            counts: isWhole
                ? phrases(.countEpisodes, count: shelved.episodes)
                : phrases(.onDiskOf, ["present": present, "episodes": episodes]),
            present: shelved.present, episodes: max(1, shelved.episodes),
            spoken: phrases(.onDiskSpoken, ["present": present, "episodes": episodes]), heard: progress.map(heard),
            isMoving: isMoving)
    }

    /// `42 %, 3 h 20 min left`
    func heard(_ progress: ListeningProgress) -> String {
        if progress.played >= progress.episodes { return phrases(.heard) }
        let share = phrases(.percent, ["number": phrases.number(Int((progress.share * 100).rounded(.down)))])
        guard let left = progress.secondsLeft else { return share }
        return share + " · " + phrases(.heardTo, ["time": phrases.span(left)])
    }

    /// Author and announcer, on one line.
    func people(of book: Book) -> String? {
        let people = [book.author, book.narrator.map { phrases(.readBy, ["name": $0]) }].compactMap(\.self)
        return people.isEmpty ? nil : people.joined(separator: " · ")
    }

    /// - Parameter library: its name, where several are served.
    func facts(of shelved: BookSummary, _ progress: ListeningProgress?, in library: String?) -> [(
        label: String, value: String
    )] {
        var facts: [(label: String, value: String)] = []
        func add(_ label: Phrase, _ value: String) { facts.append((phrases(label), value)) }
        add(.factEpisodes, phrases.number(shelved.episodes))
        add(.factOnDisk, phrases.number(shelved.present))
        if shelved.missing > 0 { add(.factMissing, phrases.number(shelved.missing)) }
        if shelved.locked > 0 { add(.factLocked, phrases.number(shelved.locked)) }
        if let progress {
            if let seconds = progress.seconds { add(.factLength, phrases.span(seconds)) }
            add(.factHeard, heard(progress))
        }
        add(.factBytes, phrases.bytes(shelved.bytes))
        add(.factUpdated, phrases.day(shelved.updatedAt))
        add(.factSource, shelved.book.identity.source)
        if let library { add(.factLibrary, library) }
        return facts
    }

    func actions(on shelved: BookSummary, _ counts: [EpisodeState: Int]) -> [ActionView] {
        guard visitor.mayChange else { return [] }
        let (identity, title) = (shelved.book.identity, shelved.book.title)
        let reference = identity.pathReference
        func button(
            _ action: String, _ label: Phrase, kind: String = "", hidden: [FieldView] = [], question: String? = nil
        ) -> ActionView {
            self.button(
                action, label, field: "ref", value: reference, of: title, kind: kind, hidden: hidden,
                question: question)
        }
        func has(_ states: EpisodeState...) -> Bool { states.contains { counts[$0, default: 0] > 0 } }
        var actions: [ActionView] = []
        // What is paused is resumed by its own button.
        if shelved.missing > 0, has(.waiting, .failed, .cancelled) {
            actions.append(button("fetch", .downloadMissing, kind: "primary"))
        }
        // What was never asked for, or was cancelled, is not in the queue.
        let inQueue = [FieldView(name: "all", value: "true")]
        if has(.downloading) { actions.append(button("pause", .pauseAll, hidden: inQueue)) }
        if has(.paused, .failed) { actions.append(button("resume", .resumeAll, hidden: inQueue)) }
        if shelved.present > 0 {
            actions.append(button("remove", .deleteFiles, kind: "quiet", question: words(of: .deleteAllQuestion)))
        }
        return actions
    }
}
