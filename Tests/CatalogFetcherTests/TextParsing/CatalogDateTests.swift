import Foundation
import Support
import Testing

@testable import CatalogFetcher

@Suite struct CatalogDateTests {
    @Test func `every date of the table is read as its peers read it`() throws {
        /// One peer refuses as a date what another one takes for the day of a year; and nothing was published in the year 100.
        let disputed: Set<String> = ["22013", "Thu, 01 Jan 0100 00:00:01 +0100"]
        let rows = try Corpus.rows("rss/DATES.tsv")
        #expect(rows.count == 103)
        for cells in rows where !disputed.contains(cells[0]) {
            let read = CatalogDate.seconds(parsing: cells[0])
            switch cells[1] {
            case "(parses)": #expect(read != nil, "\(cells[0])")
            // Where there is no date, podcastparser says 0.
            case "", "0": #expect(read == nil, "\(cells[0])")
            default:
                let expected = try #require(Double(cells[1]))
                let seconds = try #require(read, "\(cells[0])")
                #expect(abs(seconds - expected) < (cells[1].contains(".") ? 0.001 : 1), "\(cells[0])")
            }
        }
    }

    @Test(arguments: [
        ("Mon, 06 Sep 2010 10:00:00 +0000", 1_283_767_200), ("Mon, 06 Sep 2010 10:00:00 GMT", 1_283_767_200),
        ("Mon, 06 Sep 2010 12:30:00 +0230", 1_283_767_200), ("Mon, 06 Sep 2010 03:00:00 PDT", 1_283_767_200),
        ("Monday, 06-Sep-10 10:00:00 GMT", 1_283_767_200), ("Sep 6, 2010 10:00 AM", 1_283_767_200),
        ("6 September 2010 10:00:00 UTC+0", 1_283_767_200), ("lun., 6 sept. 2010 10:00:00 GMT", 1_283_767_200),
        ("20100906T10:00:00Z", 1_283_767_200), ("2010-09-06T10:00:00.000+00", 1_283_767_200),
        ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800), ("2010-249", 1_283_731_200),
        ("Mon, 06 Sep 2010 10:00:00 XYZT", 1_283_767_200), ("2024年3月5日", 1_709_596_800),
        ("２０２４年３月５日（火）", 1_709_596_800), ("2024 年 03 月 05 日 10:30:05", 1_709_634_605),
        ("2024年3月5日 星期二 下午3:20", 1_709_652_000), ("2024年3月5日15时20分", 1_709_652_000),
        ("2024年3月5日 15時", 1_709_650_800), ("Tue, 30 Oct 1938 20:00:00 GMT", -983_678_400),
    ])
    func `forms beside the table`(text: String, seconds: Int) {
        #expect(CatalogDate.seconds(parsing: text) == Double(seconds))
    }

    @Test(arguments: [
        "", " ", "yesterday", "Thu, 29 Feb 2023 00:00:00 GMT", "Mon, 06 Sep 2010 24:00:00 +0000",
        "Mon, 06 Sep 2010 10:00:00 +2500", "03/04/2006", "2010-13-01", "2010-00-01", "Mon, 06 Sep", "2010-367",
        "Mon, 06 Sep 99999 10:00:00 GMT", "31 Dec 9999 23:59:60 GMT", "Fri, 31 Dec 9999 23:59:59 -0100", "١٢ Sep 2010",
        String(repeating: "9", count: 1000), "Mon, 01 Jan 0001 00:00:00 +0000", "0001-01-01T00:00:00Z",
        "Sat, 05 Mar 2720 10:00:00 GMT", "2720-03-05", "1年1月1日", "2024年3月", "2024年13月5日",
    ])
    func `what is no date for certain is none`(text: String) {
        #expect(CatalogDate.seconds(parsing: text) == nil)
    }
}

@Suite struct CatalogDurationTests {
    @Test(
        arguments: [
            ("PT1371S", 1371), ("PT22M51S", 1371), ("PT1H2M3.5S", 3723.5), ("P1DT1H", 90000), (" PT5S\n", 5),
            ("1980.5", 1980.5),
            ("1:00:00", 3600), ("PT0S", nil), ("P", nil), ("PT", nil), ("P1Y", nil), ("PT-5S", nil), ("P99D", nil),
            ("pt5s", nil),
            ("PT" + String(repeating: "9", count: 400) + "S", nil),
        ] as [(String, Double?)])
    func `durations of manifests are read`(text: String, seconds: Double?) {
        #expect(CatalogDuration.manifestSeconds(parsing: text) == seconds)
    }

    @Test func `every duration of the table is read as its peers read it`() throws {
        let rows = try Corpus.rows("rss/DURATIONS.tsv")
        #expect(rows.count == 28)
        for cells in rows {
            let read = CatalogDuration.seconds(parsing: cells[0])
            // Blank is nothing, where podcastparser says 0.
            if cells[1].isEmpty || cells[0].allSatisfy(\.isWhitespace) {
                #expect(read == nil, "\(cells[0])")
            } else {
                let expected = try #require(Double(cells[1]))
                #expect(try abs(#require(read, "\(cells[0])") - expected) < 1, "\(cells[0])")
            }
        }
    }

    @Test(arguments: [("07 : 00 : 00", 25200), ("1：02：03", 3723), (" 61 :08", 3668)])
    func `white space and wide colons are read over`(text: String, seconds: Double) {
        #expect(CatalogDuration.seconds(parsing: text) == seconds)
    }

    @Test(arguments: [
        "", "-1", "1:2:3:4", "1 2", "07 00", "1 : : 2", "12:", ":12", "1e5", "99999999999", "12m", "1..2", "٣",
    ])
    func `what is no duration is none`(text: String) {
        #expect(CatalogDuration.seconds(parsing: text) == nil)
    }
}
