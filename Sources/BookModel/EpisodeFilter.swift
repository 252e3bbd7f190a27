import Foundation

/// Which of a book's episodes are wanted. Everything that is set must hold.
package struct EpisodeFilter: Sendable, Hashable {
    /// Section numbers.
    package var only: SectionRanges?
    /// The last so many of the listing, by section number.
    package var latest: Int?
    /// Regular expressions searched for in the episode's name.
    package var match: String?
    package var exclude: String?
    /// Published then or later. An episode whose catalog gives no date passes: nobody says that it is older, and one too
    /// many is better than one that is never brought.
    package var since: PublicationStart?

    package init(
        only: SectionRanges? = nil, latest: Int? = nil, match: String? = nil, exclude: String? = nil,
        since: PublicationStart? = nil
    ) {
        self.only = only
        self.latest = latest
        self.match = match
        self.exclude = exclude
        self.since = since
    }

    package var isEmpty: Bool { self == EpisodeFilter() }

    /// What it asks for, in words for the user: `latest 8`, `matching Part`.
    package var conditions: [Message] {
        [
            only.map { Message(verbatim: "\($0)") }, latest.map { "latest \($0)" }, match.map { "matching \($0)" },
            exclude.map { "without \($0)" }, since.map { "since \($0)" },
        ].compactMap(\.self)
    }

    /// Whether it names episodes one by one, as `3` and `3,7` do and `1-500` does not.
    package var namesEpisodes: Bool { only?.ranges.allSatisfy { $0.lowerBound == $0.upperBound } ?? false }

    /// Whether it is one number, or the last episode: `7` and `latest:1`, and not `7-9`, however many episodes there are.
    package var namesOneEpisode: Bool {
        self == EpisodeFilter(latest: 1) || namesEpisodes && only?.ranges.count == 1
    }

    /// The filter that lets through what either of them does; nil where no single filter says that.
    package func united(with other: EpisodeFilter) -> EpisodeFilter? {
        guard match == other.match, exclude == other.exclude, since == other.since else { return nil }
        var united = self
        if latest == other.latest {
            united.only = only.flatMap { mine in
                other.only.map { SectionRanges(mine.ranges + $0.ranges.filter { !mine.ranges.contains($0) }) }
            }
            return united
        }
        if only == other.only {
            united.latest = latest.flatMap { mine in other.latest.map { max(mine, $0) } }
            return united
        }
        return [self, other].first { $0.only == nil && $0.latest == nil }
    }
}

/// Section numbers as the user writes them: `1-20,35`.
package struct SectionRanges: Sendable, Hashable, CustomStringConvertible {
    package let ranges: [ClosedRange<Int>]

    package init(_ ranges: [ClosedRange<Int>]) {
        self.ranges = ranges
    }

    /// - Throws: ``Failure`` of kind `usage` when the text is not a list of numbers and rising ranges.
    package init(parsing text: String) throws {
        func refuse(_ why: Message) -> Failure {
            Failure(
                .usage, what: "'\(text)' does not name episodes", why: why,
                remedy: "write section numbers and ranges, as in 1-20,35")
        }
        func parts(_ text: String, _ separator: Character, maxSplits: Int = .max) -> [String] {
            text.split(separator: separator, maxSplits: maxSplits, omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: CharacterSet(charactersIn: " "))
            }
        }
        func number(_ text: String) throws -> Int {
            // Int would take a sign as well.
            guard text.allSatisfy(\.isWholeNumber), let number = Int(text) else {
                throw refuse("'\(text)' is not a number")
            }
            return number
        }
        var ranges: [ClosedRange<Int>] = []
        for part in parts(text, ",") {
            guard !part.isEmpty else { throw refuse("a part of it is empty") }
            let bounds = parts(part, "-", maxSplits: 1)
            guard !bounds[0].isEmpty else { throw refuse("'\(part)' has no first number") }
            let first = try number(bounds[0])
            guard bounds.count == 2 else {
                ranges.append(first...first)
                continue
            }
            guard !bounds[1].isEmpty else { throw refuse("'\(part)' has no last number") }
            let last = try number(bounds[1])
            guard first <= last else { throw refuse("the range \(part) ends before it begins") }
            ranges.append(first...last)
        }
        self.init(ranges)
    }

    package func contains(_ section: Int) -> Bool {
        ranges.contains { $0.contains(section) }
    }

    package var description: String {
        ranges.map { $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: ",")
    }
}

extension SectionRanges {
    /// Those of these numbers.
    /// - Parameter sections: at least one.
    package init(of sections: some Sequence<Int>) {
        var ranges: [ClosedRange<Int>] = []
        for section in Set(sections).sorted() {
            if let last = ranges.last, last.upperBound < .max, last.upperBound + 1 == section {
                ranges[ranges.count - 1] = last.lowerBound...section
            } else {
                ranges.append(section...section)
            }
        }
        self.init(ranges)
    }
}
