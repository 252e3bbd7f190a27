import Foundation

/// One row of the result.
struct ReportRow: Sendable {
    var work: String
    var ours: String
    var bestPeer = ""
    var ratio = ""
    var cpu = ""
    var memory = ""
    var limit = ""
}

/// What a benchmark found.
struct BenchmarkResult: Sendable {
    var rows: [ReportRow] = []
    /// Markdown below the table.
    var details: [String] = []
}

/// The result as Markdown.
enum Report {
    static func table(_ rows: [ReportRow]) -> String {
        markdown(
            ["work", "ours", "best peer", "ratio", "CPU s/GiB", "peak RSS", "limit"],
            rows.map { [$0.work, $0.ours, $0.bestPeer, $0.ratio, $0.cpu, $0.memory, $0.limit] })
    }

    static func markdown(_ titles: [String], _ rows: [[String]]) -> String {
        let lines = [titles, titles.map { _ in "---" }] + rows
        return lines.map { "| \($0.joined(separator: " | ")) |" }.joined(separator: "\n")
    }
}

/// A number with so many places after the point.
func decimal(_ value: Double, _ places: Int = 2) -> String {
    String(format: "%.\(places)f", value)
}

func megabytes(_ bytes: Int64) -> String { "\(decimal(Double(bytes) / 1e6, 0)) MB" }

/// A limit with the word whether it is kept.
func verdict(_ limit: String, _ isMet: Bool) -> String { "\(limit): \(isMet ? "met" : "**missed**")" }

extension [Double] {
    var median: Double {
        let sorted = sorted()
        guard !sorted.isEmpty else { return .nan }
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}

extension [Measurement] {
    var wall: Double { map(\.wall).median }
    var cpu: Double { map(\.cpu).median }
    var peakMemory: Int64 { map(\.peakMemory).max() ?? 0 }
    var switches: Double { map { Double($0.switches) }.median }
    /// From the fastest to the slowest, in seconds.
    var range: String { "\(decimal(map(\.wall).min() ?? 0))–\(decimal(map(\.wall).max() ?? 0))" }
}
