import BookModel
import Support
import Testing

@testable import CatalogFetcher

/// Recorded books with the archive items that they belong to, asked over HTTP. The files expected of the sections were
/// found by reading both lists' titles and playing times.
@Suite(.limitedConcurrency) struct LibriVoxPairTests {
    struct Book: Sendable, CustomTestStringConvertible {
        let id: String
        /// For every section the name of its recording, without what says how it is encoded.
        let files: [String?]
        var refused = 0

        var testDescription: String { id }
    }

    private static func padded(_ number: Int, to width: Int) -> String {
        String(repeating: "0", count: width - String(number).count) + String(number)
    }

    private static let books = [
        // Sections from 0, tracks from 1. The eighth and ninth story of day 1 have changed places. One story of day 10
        // lies in two files, so that LibriVox's last titles are one file ahead of its playing times: for the last two
        // sections titles and times name different files.
        Book(
            id: "1939",
            files: (0...116).map { "decameron_\(padded($0 == 9 ? 10 : $0 == 10 ? 9 : $0, to: 3))_boccacio" }
                + ["decameron_117a_boccacio", "decameron_117b_boccacio", "decameron_118_boccacio", nil, nil],
            refused: 2),
        // The file of the whole book has the track number of the first chapter.
        Book(id: "2043", files: (1...16).map { "futility_\(padded($0, to: 2))_robertson" }),
        // Poems in the order of their titles, files in that of their names.
        Book(
            id: "248",
            files: [
                "abou_hunt_py", "artilleryman_whitman", "as_kingfishers_catch_fire_hopkins_dhf",
                "because_I_could_not_stop_for_death_dickinson", "casabianca_hemans_jh",
                "christmas_bells_longfellow_pmk", "daffodils_wordsworth", "dead_boche_graves_sm",
                "dover_beach_arnold_ce", "dulce_et_decorum_owen_af", "for_annie_poe_ac", "heat_doolittle_ac",
                "good_news_from_ghent_browning_ks", "i_died_for_beauty_dickinson_ac", "jenny_hunt_py",
                "kublai_khan_coleridge_py", "irish_emigrant_selina_py", "last_rose_moore_py",
                "laughing_corn_sandburg_blb", "love_age_peacock_py", "love_song_prufrock_eliot_pe",
                "shadow_stevenson_hf", "ode314_rumi", "familiar_faces_lamb_py", "queen_of_hearts_rossetti_blb",
                "road_not_taken_frost_ac", "poe_telltale_heart_sr",
                "thou_art_not_lovelier_than_lilacs_no_millay_ac", "wreck_of_the_hesperus_longfellow",
            ]),
        // A file without length and track lies among the others.
        Book(
            id: "268",
            files: [
                "01-05", "06-10", "11-15", "16-20", "21-25", "26-30", "31-35", "36-40", "41-45", "46-50", "51-55",
                "56-59", "60-63",
            ].map { "loveconquersall_\($0)_benchley" }),
    ]

    @Test(arguments: books, [[], ["64Kbps MP3"], ["Ogg Vorbis"]])
    func `every section gets the file of its title and playing time`(book: Book, formats: [String]) async throws {
        let answers = try ["lv", "ia"].map { try Corpus.bytes("json-librivox/pairs/\($0)-\(book.id).json") }
        try await ScriptedServer.run { request, _ in
            ScriptedAnswer(body: answers[request.path.hasPrefix("/metadata/") ? 1 : 0])
        } _: { _, address in
            let settings = LibriVoxSettings(
                address: ResourceAddress(address),
                archive: .init(address: ResourceAddress(address), formats: formats))
            let listed = try await list(book.id, in: settings)
            let names = listed.episodes.map { episode in
                episode.address.flatMap { $0.pathText.split(separator: "/").last }
                    .map { FileRole.recordingName(String($0)) }
            }
            #expect(names == book.files)
            let alone = try LibriVoxSettings().read(CatalogResponse(bytes: answers[0]), source: "mine", id: book.id)
            #expect(listed.episodes.map(\.identity) == alone.episodes.map(\.identity))
            for (section, episode) in zip(alone.episodes, listed.episodes) where !episode.isLocked {
                let lengths = (try #require(section.duration), try #require(episode.duration))
                #expect(abs(lengths.0 - lengths.1) < (formats == ["Ogg Vorbis"] ? 4 : 2), "\(section.name)")
            }
            let total = book.files.count
            let refusal = listed.warnings.contains(
                "\(book.refused) of \(total) sections are left without a file: archive item ")
            #expect(refusal == (book.refused > 0))
            #expect(!listed.warnings.contains("LibriVox gives no address"))
        }
    }

    @Test func `a section that LibriVox gives an address for keeps it and its file`() async throws {
        let book = """
            {"books":[{"id":"7","url_iarchive":"http://archive.org/details/it","sections":[
            {"id":"1","title":"Chapter","playtime":"100","listen_url":"http://files.example/b_02_64kb.mp3"},
            {"id":"2","title":"Chapter","playtime":"100","listen_url":""},
            {"id":"3","title":"Chapter 3","playtime":"100","listen_url":null}]}]}
            """
        let item = """
            {"metadata":{},"files":[
            {"name":"b_01.mp3","format":"128Kbps MP3","source":"original","title":"Chapter","length":"100.4"},
            {"name":"b_02.mp3","format":"128Kbps MP3","source":"original","title":"Chapter","length":"100.4"}]}
            """
        try await ScriptedServer.run { request, _ in
            ScriptedAnswer(request.path.hasPrefix("/metadata/") ? item : book)
        } _: { _, address in
            let listed = try await list(
                "7",
                in: LibriVoxSettings(
                    address: ResourceAddress(address), archive: .init(address: ResourceAddress(address))))
            #expect(
                listed.episodes.map { $0.address?.secretText } == [
                    "http://files.example/b_02_64kb.mp3", address + "/download/it/b_01.mp3", nil,
                ])
            #expect(
                listed.warnings
                    == "LibriVox gives no address for 1 of 3 sections: archive item it has no file for them")
        }
    }
}
