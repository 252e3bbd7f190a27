import Support
import Testing

@testable import CatalogFetcher

/// Sections as LibriVox lists them against the recordings of an archive item. What is expected was decided by reading
/// the titles and playing times.
@Suite struct ArchiveMatchTests {
    private typealias Section = (title: String, length: Double?)
    private typealias Recording = (name: String, title: String, length: Double?)

    /// - Returns: for each section the name of its recording, and which sections were refused one.
    private func match(
        _ sections: [Section], _ recordings: [Recording], numbers: [Int?]? = nil, tracks: [Int?]? = nil,
        names: [String?] = []
    ) -> ([String?], refused: Set<Int>) {
        let match = ArchiveMatch(
            sections: sections.enumerated().map { index, section in
                ArchiveMatch.Track(
                    fileName: index < names.count ? names[index] : nil, title: section.title, length: section.length,
                    number: numbers.map { $0[index] } ?? index + 1)
            },
            recordings: recordings.enumerated().map { index, file in
                ArchiveMatch.Track(
                    fileName: file.name, title: file.title, length: file.length,
                    number: tracks.map { $0[index] } ?? index + 1)
            })
        return (match.matches.map { $0.map { recordings[$0].name } }, match.refused)
    }

    /// LibriVox 2118.
    @Test func `sections from 0 find their tracks from 1`() {
        let sections: [Section] = [
            ("Preface", 573), ("1. We Have Some Planes, 1.1 Inside the Four Flights", 2709),
            ("1.2 Improvising a Homeland Defense", 4072), ("1.3 National Crisis Management", 1997),
        ]
        let recordings: [Recording] = [
            ("00", "00 - Preface", 573.32), ("01", "01 - We Have Some Planes; Inside the Four Flights", 2709.9),
            ("02", "02 - Improvising a Homeland Defense", 4072.72), ("03", "03 - National Crisis Management", 1997.83),
            ("04", "04 - A Declaration of War", 418.45),
        ]
        let found = match(sections, recordings, numbers: [0, 1, 2, 3])
        #expect(found.0 == ["00", "01", "02", "03"] && found.refused.isEmpty)
    }

    /// LibriVox 3794: the files are in the order in which they were handed in.
    @Test func `a list in another order is followed by titles and playing times`() {
        let sections: [Section] = [
            ("The Bee Man of Orn", 1423), ("A Blaze on Pard Huff", 871), ("A Bush Dance", 422),
            ("The Griffin and the Minor Canon", 1892), ("The Mocking Bird", 981), ("A Piece of Steak", 2766),
        ]
        let recordings: [Recording] = [
            ("01piece", "A Piece of Steak", 2766.05), ("03bush", "A Bush Dance", 422.4),
            ("04griffin", "The Griffin and the Minor Canon", 1893.13), ("05bee", "The Bee-Man of Orn", 1423.88),
            ("06mocking", "The Mocking Bird", 981.13), ("08blaze", "A Blaze on Pard Huff", 871.78),
        ]
        #expect(
            match(sections, recordings).0 == ["05bee", "08blaze", "03bush", "04griffin", "06mocking", "01piece"])
    }

    /// LibriVox 6391: three readers take 112 seconds, and the file of the whole book bears the last one's title.
    @Test func `a file of the whole book takes no section's place`() {
        let sections: [Section] = [
            ("A Health - Read by AM", 112), ("A Health - Read by JCM", 112), ("A Health - Read by LAH", 112),
            ("A Health - Read by RBP", 114),
        ]
        let recordings: [Recording] = [
            ("whole", "A Health - Read by RBP", 1054.35), ("am", "A Health - Read by AM", 112.88),
            ("jcm", "A Health - Read by JCM", 112.64), ("lah", "A Health - Read by LAH", 112.04),
            ("rbp", "A Health - Read by RBP", 114.2),
        ]
        let found = match(sections, recordings, tracks: [1, 1, 2, 3, 4])
        #expect(found.0 == ["am", "jcm", "lah", "rbp"] && found.refused.isEmpty)
    }

    /// LibriVox 1606: the files of a chapter in two parts shift everything behind them.
    @Test func `a section whose title and playing time name two recordings gets neither`() {
        let sections: [Section] = [
            ("THE RAPIDS OF THE OGOWÉ", 3971), ("LEMBARENE", 2639), ("BUSH TRADE AND FAN CUSTOMS", 2129),
            ("DOWN THE REMBWÉ.", 3088),
        ]
        let recordings: [Recording] = [
            ("05", "05 - The Rapids of the Ogowe", 3971.72), ("06a", "06a - Lembarene, Part 1", 2639.24),
            ("06b", "06b - Lembarene, Part 2", 2443.14), ("08a", "08a - From Ncovi to Esoon, Part 1", 2129.04),
            ("08b", "08b - From Ncovi to Esoon, Part 2", 3088.38), ("10", "10 - Bush Trade and Fan Customs", 2949.24),
            ("11", "11 - Down the Rembwe", 2271.62),
        ]
        let found = match(sections, recordings)
        #expect(found.0 == ["05", "06a", nil, nil] && found.refused == [2, 3])
    }

    @Test func `the order decides between equal titles, as often as both lists have them`() {
        let sections: [Section] = [
            ("Part 1", nil), ("Chapter 1", nil), ("Chapter 2", nil), ("Part 2", nil), ("Chapter 1", nil),
            ("Chapter 2", nil),
        ]
        let recordings: [Recording] = [
            ("a", "Part 1", nil), ("b", "Chapter 1", nil), ("c", "Chapter 2", nil), ("d", "Part 2", nil),
            ("e", "Chapter 1", nil), ("f", "Chapter 2", nil),
        ]
        #expect(match(sections, recordings).0 == ["a", "b", "c", "d", "e", "f"])
        // One "Chapter 2" is missing: its neighbours tell which.
        var fewer = recordings
        fewer.remove(at: 2)
        let found = match(sections, fewer)
        #expect(found.0 == ["a", "b", nil, "d", "e", "f"] && found.refused.isEmpty)
    }

    @Test func `playing times tell equal titles apart in any order`() {
        let sections: [Section] = [("Fetish", 2037), ("Fetish", 2949), ("Fetish", 2271)]
        let recordings: [Recording] = [
            ("x", "12 - Fetish", 2271.9), ("y", "Fetish.", 2037.1), ("z", "FETISH", 2950.02),
        ]
        #expect(match(sections, recordings).0 == ["y", "z", "x"])
    }

    @Test func `a playing time alone decides only where one section and one recording have it`() {
        let recordings: [Recording] = [
            ("lonely", "I Wandered Lonely As A Cloud", 109.06), ("dead", "A Dead Boche", 38.03),
            ("other", "Unheard", 300),
        ]
        #expect(match([("Daffodils", 108), ("A Dead Boche", 37)], recordings).0 == ["lonely", "dead"])
        let twice = match(
            [("Daffodils", 108), ("Abou", 108), ("A Dead Boche", 37), ("B", 60)], recordings, tracks: [nil, nil, nil])
        #expect(twice.0 == [nil, nil, "dead", nil])
    }

    @Test func `the same title with another playing time is refused, with about the same it is taken`() {
        let sections: [Section] = [("Eins", 1000), ("Zwei", 1000), ("Drei", 60), ("Vier", nil), ("Fünf", 1000)]
        let recordings: [Recording] = [
            ("1", "01 Eins", 1019), ("2", "02 Zwei", 1021), ("3", "03 Drei", 74), ("4", "04 Vier", 5),
            ("5", "05 Funf", nil),
        ]
        let found = match(sections, recordings)
        #expect(found.0 == ["1", nil, "3", "4", "5"] && found.refused == [1])
    }

    @Test func `without titles and playing times, as many files as sections go by their places`() {
        let found = match([("", nil), ("", nil)], [("b_00", "b_00", nil), ("b_01", "b_01", nil)], numbers: [0, 1])
        #expect(found.0 == ["b_00", "b_01"] && found.refused.isEmpty)
        let refused = match([("", 10), ("", 700)], [("a", "", 500), ("b", "", 700)])
        #expect(refused.0 == [nil, "b"] && refused.refused == [0])
    }

    @Test func `numbers decide last, and only as the pairs found so far count`() {
        let files: [Recording] = [("b_01", "", nil), ("b_03", "", nil), ("extra", "", nil), ("b_04", "", nil)]
        let tracks = [1, 3, nil, 4]
        let unknown: [Section] = [("", nil), ("", nil), ("", nil)]
        #expect(match(unknown, files, tracks: tracks).0 == ["b_01", nil, "b_03"])
        // Counted from 0 against from 1: without a pair nobody knows by how much they differ.
        #expect(match(unknown, files, numbers: [0, 1, 2], tracks: tracks).0 == [nil, nil, nil])
        let anchored = match(
            [("Preface", nil), ("", nil), ("", nil)], [("p", "Preface", nil)] + files.dropFirst(),
            numbers: [0, 1, 2], tracks: tracks)
        #expect(anchored.0 == ["p", nil, "b_03"])
        let twice = match([("", nil), ("", nil)], Array(files.dropLast()), tracks: [2, 1, 1])
        #expect(twice.0 == [nil, "b_01"])
    }

    @Test func `file names come first, and yield to playing times`() {
        let files: [Recording] = [("b", "", 50), ("a", "", 90)]
        #expect(match([("", 90), ("", nil)], files, tracks: [nil, nil], names: ["A", nil]).0 == ["a", nil])
        let wrong = match([("", 600), ("", nil)], files, tracks: [nil, nil], names: ["A", nil])
        #expect(wrong.0 == [nil, "a"] && wrong.refused == [0])
    }

    @Test func `files are told by the playing time of what they were made from`() {
        let match = ArchiveMatch(
            sections: [
                ArchiveMatch.Track(fileName: nil, title: "X", length: 521, number: nil),
                ArchiveMatch.Track(fileName: nil, title: "Y", length: 517, number: nil),
            ],
            recordings: [
                ArchiveMatch.Track(fileName: "y", title: "", length: 513.1, originalLength: 517.6, number: nil),
                ArchiveMatch.Track(fileName: "x", title: "", length: 517.2, originalLength: 521.8, number: nil),
            ])
        #expect(match.matches == [1, 0])
    }

    @Test(arguments: [
        ("02 - The Lament of the Irish Emigrant", "Lament of the Irish Emigrant"), ("THE OGOWÉ", "04 - The Ogowe"),
        ("Chapter 07", "07 - chapter 7"), ("Californian's Tale, The", "The Californian’s Tale"),
        ("000 - Proem.", "Proem"),
        ("第１章", "第1章"), ("1984", "01984"),
    ])
    func `spellings of one title are alike`(one: String, other: String) {
        #expect(ArchiveMatch.comparable(one) == ArchiveMatch.comparable(other))
        #expect(ArchiveMatch.comparable(one) != nil)
    }

    @Test(arguments: [("Chapter 1", "Chapter 10"), ("第1章", "第2章"), ("Part One", "Part Two"), ("1984", "1985")])
    func `different titles are not`(one: String, other: String) {
        #expect(ArchiveMatch.comparable(one) != ArchiveMatch.comparable(other))
    }

    @Test(arguments: ["", " - ", "The", "…"])
    func `what says nothing is no title`(title: String) {
        #expect(ArchiveMatch.comparable(title) == nil)
    }

    @Test(arguments: 0..<200)
    func `whatever the lists say, no recording is given away twice or against the playing times`(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        func track() -> ArchiveMatch.Track {
            let length = Double.random(in: 1...4, using: &generator).rounded() * 40
            return ArchiveMatch.Track(
                fileName: Bool.random(using: &generator) ? nil : "f\(Int.random(in: 0...5, using: &generator))",
                title: ["", "A Tale", "B", "C"].randomElement(using: &generator) ?? "",
                length: Int.random(in: 0...3, using: &generator) == 0 ? nil : length,
                number: Int.random(in: 0...9, using: &generator))
        }
        let sections = (0..<Int.random(in: 0...9, using: &generator)).map { _ in track() }
        let recordings = (0..<Int.random(in: 0...9, using: &generator)).map { _ in track() }
        let match = ArchiveMatch(sections: sections, recordings: recordings)
        let taken = match.matches.compactMap(\.self)
        #expect(match.matches.count == sections.count && Set(taken).count == taken.count)
        for (section, recording) in zip(sections, match.matches) {
            guard let recording = recording.map({ recordings[$0] }) else { continue }
            #expect(ArchiveMatch.agree(section.length, recording.length))
        }
        #expect(match.refused.allSatisfy { match.matches[$0] == nil })
    }
}
