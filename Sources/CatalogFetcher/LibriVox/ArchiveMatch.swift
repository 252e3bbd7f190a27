import Foundation

/// Decides which recording of an archive item belongs to which section of a book.
///
/// Titles and playing times decide, the surest evidence first; every recording is given away once:
/// 1. the file name that LibriVox gives for the section;
/// 2. the same title and the same playing time, to within two seconds;
/// 3. the same title, where as many sections as recordings have it: their order decides;
/// 4. the same playing time, where only one section and one recording have it;
/// 5. the position, where as many sections as recordings lie between two pairs found so far;
/// 6. the number, where it differs by the same amount in all pairs found so far.
///
/// Two recordings whose playing times contradict each other are never paired. A title that is left on both sides after
/// step 3 is disputed: its sections and recordings are paired with each other or not at all.
///
/// Numbers and positions come last because sections are counted from 0 and tracks from 1, files of the whole book or of
/// half a chapter lie among the others, and either list may have its own order.
struct ArchiveMatch {
    /// What is known of a section, or of a recording of the archive.
    struct Track {
        /// Without what says how the file is encoded, in lower case.
        let fileName: String?
        /// What two spellings of one title have in common; nil for no title.
        let title: String?
        /// Seconds.
        let length: Double?
        /// The second in which it ends.
        let second: Int?
        let number: Int?

        /// - Parameter originalLength: of what the file was made from, where that is known.
        init(fileName: String?, title: String, length: Double?, originalLength: Double? = nil, number: Int?) {
            self.fileName = fileName?.lowercased()
            self.title = ArchiveMatch.comparable(title)
            self.length = length
            second = (originalLength ?? length).map { Int($0) }
            self.number = number
        }
    }

    private struct TitledSecond: Hashable {
        let title: String
        let second: Int

        init?(_ track: Track, shift: Int = 0) {
            guard let title = track.title, let second = track.second else { return nil }
            self.title = title
            self.second = second + shift
        }
    }

    private let sections: [Track]
    private let recordings: [Track]
    /// For every section the index of its recording.
    private(set) var matches: [Int?]
    /// The sections that have no recording although the titles, positions or numbers name one: the playing times
    /// contradict that, or do not tell several apart.
    private(set) var refused: Set<Int> = []
    private var taken: Set<Int> = []
    private var disputed: Set<String> = []

    /// - Parameters: both in their order.
    init(sections: [Track], recordings: [Track]) {
        self.sections = sections
        self.recordings = recordings
        matches = Array(repeating: nil, count: sections.count)
        pair(\.fileName, \.fileName, where: ==)
        // LibriVox cuts the fractions off.
        let shifts = [0, 1, -1, 2, -2]
        for shift in shifts { pair({ TitledSecond($0, shift: shift) }, { TitledSecond($0) }) }
        pair(\.title, \.title, where: ==)
        disputed = Set(openSections.compactMap { sections[$0].title })
            .intersection(freeRecordings.compactMap { recordings[$0].title })
        for shift in shifts {
            pair({ track in track.second.map { $0 + shift } }, \.second, where: { max($0, $1) == 1 })
        }
        pairByPosition()
        pairByNumber()
        disputed.formIntersection(freeRecordings.compactMap { recordings[$0].title })
        refused.formUnion(openSections.filter { isDisputed(sections[$0]) })
        refused.formIntersection(openSections)
    }

    private var openSections: [Int] { sections.indices.filter { matches[$0] == nil } }
    private var freeRecordings: [Int] { recordings.indices.filter { !taken.contains($0) } }

    /// Pairs what has the same key, in order.
    ///
    /// - Parameter isClear: whether so many sections and so many recordings of one key tell enough.
    private mutating func pair<Key: Hashable>(
        _ sectionKey: (Track) -> Key?, _ recordingKey: (Track) -> Key?,
        where isClear: (_ sections: Int, _ recordings: Int) -> Bool = { _, _ in true }
    ) {
        let free = Dictionary(grouping: freeRecordings) { recordingKey(recordings[$0]) }
        for (key, open) in Dictionary(grouping: openSections, by: { sectionKey(sections[$0]) }) {
            guard key != nil, let free = free[key], isClear(open.count, free.count) else { continue }
            for (section, recording) in zip(open, free) { propose(recording, for: section) }
        }
    }

    private mutating func pairByPosition() {
        var start = 0
        var previous = -1
        for end in 0...sections.count {
            guard let next = end < sections.count ? matches[end] : recordings.count else { continue }
            if next - previous - 1 == end - start, !(previous + 1..<next).contains(where: { taken.contains($0) }) {
                for (section, recording) in zip(start..<end, previous + 1..<next) {
                    propose(recording, for: section)
                }
            }
            start = end + 1
            previous = next
        }
    }

    private mutating func pairByNumber() {
        let shifts = Set(
            sections.indices.compactMap { section in
                matches[section].flatMap { recordings[$0].number }.flatMap { number in
                    sections[section].number.map { number - $0 }
                }
            })
        // Without any pair, two lists that begin with different numbers may be counted differently.
        let isCountedAlike = sections.compactMap(\.number).min() == recordings.compactMap(\.number).min()
        guard shifts.count == 1 || shifts.isEmpty && isCountedAlike else { return }
        let shift = shifts.first ?? 0
        pair({ track in track.number.map { $0 + shift } }, \.number, where: { max($0, $1) == 1 })
    }

    private mutating func propose(_ recording: Int, for section: Int) {
        let (one, other) = (sections[section], recordings[recording])
        guard one.title == other.title || !isDisputed(one) && !isDisputed(other) else { return }
        guard Self.agree(one.length, other.length) else {
            refused.insert(section)
            return
        }
        matches[section] = recording
        taken.insert(recording)
    }

    private func isDisputed(_ track: Track) -> Bool { track.title.map { disputed.contains($0) } ?? false }

    /// Whether two lengths in seconds may be those of one recording; what is unknown contradicts nothing.
    ///
    /// In recorded books a section plays as long as the original file, to within 1.1 seconds, and what is derived from
    /// that is listed up to 10 seconds longer or shorter. Of all pairs that are wrong, 2 in 100 agree as nearly as this;
    /// with 5 % of the length it would be 4.
    static func agree(_ one: Double?, _ other: Double?) -> Bool {
        guard let one, let other else { return true }
        return abs(one - other) <= max(15, max(one, other) * 0.02)
    }

    /// `02 - The Lament` and `Lament` are one title, and so are `Chapter 07` and `chapter 7`: without numbers in front,
    /// articles, accents, capitals, zeros and punctuation.
    static func comparable(_ title: String) -> String? {
        let words = title.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
            .split { !$0.isLetter && !$0.isNumber }
            .filter { !["the", "a", "an"].contains($0) }
            .map { word in word.allSatisfy { $0 == "0" } ? "0" : word.drop { $0 == "0" } }
        let named = words.drop { $0.first?.isNumber ?? false }
        let kept = named.isEmpty ? words[...] : named
        return kept.isEmpty ? nil : kept.joined(separator: " ")
    }
}
