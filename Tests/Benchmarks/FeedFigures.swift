import CatalogFetcher
import Foundation

/// A feed of 10 MB with 10,000 items, bytes to episodes; and the same by the best-known readers of podcasts, where
/// Python has them.
enum FeedFigures: Benchmark {
    static let name = "feed"

    private static let items = 10_000
    private static let speedLimit = 60.0
    private static let memoryLimit: Int64 = 64_000_000

    static func run(_ setting: Setting) async throws -> BenchmarkResult {
        let folder = try setting.workspace.emptyFolder("feed")
        let feed = "\(folder)/feed.xml"
        try write(to: feed)
        let peers = try FeedPeer.installed(setting)
        var ours: [CatalogReading] = []
        var theirs = [[Double]](repeating: [], count: peers.count)
        for run in 1...setting.runs {
            record("  run \(run) of \(setting.runs)")
            ours.append(try CatalogReading.measured(.feed, folder: folder, setting))
            guard ours.last?.episodes == items else {
                throw MeasuredProcess.Failed(description: "of \(items) items \(ours.last?.episodes ?? 0) were read")
            }
            for (index, peer) in peers.enumerated() {
                theirs[index].append(try peer.seconds(reading: feed, items: items, setting))
            }
        }
        let size = ours.map(\.resultSize).max() ?? 0
        let aside = ours.peakMemory - size
        var rows = [
            ReportRow(
                work: "feed: \(megabytes(Int64(ours.first?.bytes ?? 0))), \(items) items, bytes to episodes",
                ours: "\(decimal(ours.speed, 0)) MB/s (\(decimal(ours.seconds, 3)) s)",
                memory: "\(megabytes(ours.peakMemory)), of which the episodes \(megabytes(size))",
                limit: [
                    verdict("≥ \(Int(speedLimit)) MB/s", ours.speed >= speedLimit),
                    verdict("≤ \(megabytes(memoryLimit)) beside the episodes", aside <= memoryLimit),
                ].joined(separator: "; "))
        ]
        for (peer, seconds) in zip(peers, theirs) {
            let ratio = seconds.median / ours.seconds
            rows.append(
                ReportRow(
                    work: "feed: the same by \(peer.name) \(peer.version)", ours: "",
                    bestPeer: "\(decimal(seconds.median)) s", ratio: "\(decimal(ratio, 1)) × as fast",
                    limit: verdict("≥ \(Int(peer.limit)) ×", ratio >= peer.limit)))
        }
        return BenchmarkResult(rows: rows)
    }

    /// Writes the feed piece by piece: the benchmark must not grow by it.
    private static func write(to path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let file = FileHandle(forWritingAtPath: path)
        else { throw MeasuredProcess.Failed(description: "no feed can be written") }
        try file.write(contentsOf: Data(head.utf8))
        for first in stride(from: 1, through: items, by: 100) {
            let text = (first..<first + 100).map(item).joined()
            try file.write(contentsOf: Data(text.utf8))
        }
        try file.write(contentsOf: Data("</channel>\n</rss>\n".utf8))
        try file.close()
    }

    private static let head = """
        <?xml version="1.0" encoding="UTF-8"?>
        <rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"
          xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:atom="http://www.w3.org/2005/Atom">
        <channel><title>The Tides and the Lighthouse</title><link>https://books.example/tides</link>
        <atom:link href="https://books.example/tides/feed.xml" rel="self" type="application/rss+xml"/>
        <description>Read aloud, a chapter a day.</description><language>en</language>
        <itunes:author>A. Keeper</itunes:author><itunes:image href="https://books.example/tides/cover.jpg"/>

        """

    /// About a thousand bytes, as podcasts have them: half of it is description.
    private static func item(_ number: Int) -> String {
        // Days back from 2024 on, so that the newest comes first.
        let day = Date(timeIntervalSince1970: Double(1_704_067_200 - number * 86_400))
        let week = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.weekday, .day, .month, .year], from: day)
        let date = """
            \(week[(parts.weekday ?? 1) - 1]), \(decimal(Double(parts.day ?? 1), 0)) \(months[(parts.month ?? 1) - 1]) \
            \(parts.year ?? 1970) 06:00:00 +0000
            """
        return """
            <item><title>Chapter \(number): of wind &amp; water, 第\(number)章 — the lamp is lit</title>
            <link>https://books.example/tides/\(number)</link><guid isPermaLink="false">tides-\(number)-5f3a9c</guid>
            <pubDate>\(date)</pubDate>
            <description><![CDATA[<p>In chapter \(number) the keeper climbs the stairs once more, and the sea answers him as it \
            always did. <a href="https://books.example/tides/\(number)/notes">Notes</a> to the text, names and places, \
            and what the wind had to do with it.</p><p>Read by a volunteer, recorded in one go.</p>]]></description>
            <itunes:summary>In chapter \(number) the keeper climbs the stairs once more, and the sea answers him &quot;as it \
            always did&quot;.</itunes:summary>
            <itunes:duration>00:\(10 + number % 50):\(10 + number % 49)</itunes:duration><itunes:episode>\(items + 1 - number)</itunes:episode>
            <itunes:explicit>false</itunes:explicit><itunes:image href="https://books.example/tides/\(number).jpg"/>
            <enclosure url="https://audio.books.example/tides/\(number).mp3?from=feed" length="\(9_000_000 + number)" type="audio/mpeg"/>
            </item>

            """
    }
}

/// A Python library that reads podcasts.
struct FeedPeer {
    let name: String
    let version: String
    /// How many times as fast we are to be.
    let limit: Double
    /// Python that reads `path` and leaves the number of items in `count`.
    private let code: String

    static func installed(_ setting: Setting) throws -> [FeedPeer] {
        let known: [(name: String, limit: Double, code: String)] = [
            ("feedparser", 20, "count = len(feedparser.parse(open(path, 'rb').read()).entries)"),
            (
                "podcastparser", 5,
                "count = len(podcastparser.parse('https://books.example/feed', open(path, 'rb'), 0)['episodes'])"
            ),
        ]
        return known.compactMap { name, limit, code in
            let log = setting.workspace.log
            let command = ["python3", "-c", "import \(name); print(\(name).__version__)"]
            guard case .success = Result(catching: { try MeasuredProcess.run(command, log: log) }) else { return nil }
            let text = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
            return FeedPeer(
                name: name, version: text.trimmingCharacters(in: .whitespacesAndNewlines), limit: limit, code: code)
        }
    }

    /// Seconds for one reading, the start of Python not counted.
    func seconds(reading path: String, items: Int, _ setting: Setting) throws -> Double {
        let script = """
            import sys, time, \(name)
            path = sys.argv[1]
            begin = time.perf_counter()
            \(code)
            print(time.perf_counter() - begin, count)
            """
        _ = try setting.measure(["python3", "-c", script, path])
        let output = String(
            decoding: FileManager.default.contents(atPath: setting.workspace.log) ?? Data(), as: UTF8.self)
        let figures = output.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard figures.count == 2, Int(figures[1]) == items else {
            throw MeasuredProcess.Failed(description: "\(name) does not read the feed: \(output)")
        }
        return figures[0]
    }
}
