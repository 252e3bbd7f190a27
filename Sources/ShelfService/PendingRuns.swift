import BookModel
import BookSync
import Settings

/// The runs that were asked for and have not begun. Pure.
///
/// What a user asks for comes before what comes by itself, and as few runs as possible do it all.
struct PendingRuns: Sendable, Equatable {
    enum Errand: Sendable, Equatable {
        case fetch([RunRequest.Item], force: Bool)
        case join(BookIdentity)
        case mirror

        /// What the run is recorded as.
        var command: String {
            switch self {
            case .fetch: "fetch"
            case .join: "join"
            case .mirror: "mirror"
            }
        }

        var isSomething: Bool { if case .fetch(let items, _) = self { !items.isEmpty } else { true } }

        /// Whether it names a book of the demo catalog.
        var isOfDemo: Bool { books.contains { $0.source == Configuration.demoSource } }

        /// The books that it names.
        var books: Set<BookIdentity> {
            switch self {
            case .fetch(let items, _): Set(items.map(\.book))
            case .join(let book): [book]
            case .mirror: []
            }
        }

        /// Without all of some books; nil when nothing is left of it.
        func without(allOf books: Set<BookIdentity>) -> Errand? {
            guard case .fetch(let items, let force) = self else { return self }
            let left = items.without(allOf: books)
            return left.isEmpty ? nil : .fetch(left, force: force)
        }

        /// Without episodes that were named one by one; nil when nothing is left of it. A whole book stays whole.
        func without(_ sections: [BookIdentity: Set<Int>]) -> Errand? {
            guard case .fetch(let items, let force) = self else { return self }
            let left = items.without(sections)
            return left.isEmpty ? nil : .fetch(left, force: force)
        }
    }

    private var asked: [Errand] = []
    private var joins: [BookIdentity] = []
    private var isMirrorAsked = false

    /// The first one first.
    var waiting: [Errand] { asked + joins.map(Errand.join) + (isMirrorAsked ? [.mirror] : []) }

    /// Joins one that waits already where one run can do both.
    mutating func add(_ errand: Errand) {
        if case .join(let book) = errand, !joins.contains(book) { joins.append(book) }
        if errand == .mirror { isMirrorAsked = true }
        guard case .fetch(let items, let force) = errand else { return }
        for (index, other) in asked.enumerated() {
            guard case .fetch(let others, force) = other, let all = Self.combined(others, items) else { continue }
            asked[index] = .fetch(all, force: force)
            return
        }
        asked.append(errand)
    }

    /// Takes the first one out.
    mutating func next() -> Errand? {
        if !asked.isEmpty { return asked.removeFirst() }
        if !joins.isEmpty { return .join(joins.removeFirst()) }
        defer { isMirrorAsked = false }
        return isMirrorAsked ? .mirror : nil
    }

    /// Takes out episodes that were named one by one.
    mutating func drop(_ sections: [BookIdentity: Set<Int>]) {
        asked = asked.compactMap { $0.without(sections) }
    }

    /// Takes out all that was asked for of some books.
    /// - Parameter books: nil for everything.
    /// - Returns: how many of them were to be fetched.
    mutating func drop(allOf books: Set<BookIdentity>?) -> Int {
        var dropped: Set<BookIdentity> = []
        func without(_ errand: Errand) -> Errand? {
            guard case .fetch(let items, _) = errand else { return errand }
            let all = Set(items.map(\.book))
            dropped.formUnion(all.intersection(books ?? all))
            return errand.without(allOf: books ?? all)
        }
        asked = asked.compactMap(without)
        joins.removeAll { books?.contains($0) ?? true }
        if books == nil { isMirrorAsked = false }
        return dropped.count
    }

    /// - Returns: nil where no one run can do both.
    private static func combined(_ items: [RunRequest.Item], _ more: [RunRequest.Item]) -> [RunRequest.Item]? {
        switch Result(catching: { try RunRequest(items: items + more).items }) {
        case .success(let items): items
        case .failure: nil
        }
    }
}
