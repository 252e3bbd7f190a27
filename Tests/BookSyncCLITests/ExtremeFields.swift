import Foundation
import Support

/// Numbers and times at the edges of what types, calendars and file systems hold.
enum Extreme {
    static let numbers = [
        "9223372036854775807", "9223372036854775806", "-9223372036854775808", "-9223372036854775807",
        "9223372036854775808", "-9223372036854775809", "18446744073709551616", "1e19", "1e308", "-1e308", "1e-308",
        "2147483648", "4611686018427387904", "0", "-1",
    ]
    /// What JSON has no number for.
    static let texts = [
        "NaN", "inf", "0001-01-01T00:00:00Z", "1900-01-01T00:00:00Z", "2262-04-12T00:00:00Z", "2446-05-10T22:38:55Z",
        "9999-12-31T23:59:59Z", "Mon, 01 Jan 0001 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "99999999999:59:59",
        "P99999999999DT1S", "9223372036854775807/9223372036854775807",
    ]
    static let all = numbers + texts
    /// A few of them, where each takes a process of its own.
    static let few = [numbers[0], numbers[2], numbers[8]]
}

/// A document with the fields in it that hold a number or a time, found by how JSON, XML, HTML and YAML write them. All fields of one
/// name are one: what is put into it stands in every element.
struct ExtremeFields {
    private struct Place {
        let range: Range<String.Index>
        let isBare: Bool
    }

    private let text: String
    private var places: [String: [Place]] = [:]

    /// In order.
    var names: [String] { places.keys.sorted() }

    init(_ text: String) {
        self.text = text
        let number = #"-?\d[\d.eE+-]*"#
        let time = #"P[\dDTHMS.]+|[\d:]+|\d{1,2}/\d+|[\d-]{8,10}[T ][\d:.]+(?:Z| ?[+-]\d\d:?\d\d)?|\w{3}, [\w :+-]+"#
        let patterns = [
            (#""(?<name>\w+)"\s*:\s*(?<value>\#(number))\s*[,}\]]"#, true),
            (#""(?<name>\w+)"\s*:\s*"(?<value>\#(number)|\#(time))""#, false),
            (#"\s(?<name>[\w:-]+)="(?<value>\#(number)|\#(time))""#, false),
            (#"<(?<name>[\w:]+)[^>]*>\s*(?<value>\#(number)|\#(time))\s*</"#, false),
            (#"(?m)^ *(?<name>[\w-]+): (?<value>\#(number))(?= |$)"#, false),
            // A row of an index page: date, clock, size.
            (#"</a>\s+(?<value>\d\d-\w{3}-\d{4} \d\d:\d\d)"#, false),
            (#"</a>\s+\d\d-\w{3}-\d{4} \d\d:\d\d\s+(?<value>\d+)"#, false),
        ]
        for (index, (pattern, isBare)) in patterns.enumerated() {
            for match in (try? NSRegularExpression(pattern: pattern))?.matches(
                in: text, range: NSRange(text.startIndex..., in: text)) ?? []
            {
                guard let range = Range(match.range(withName: "value"), in: text) else { continue }
                let name = Range(match.range(withName: "name"), in: text).map { String(text[$0]) } ?? "row \(index)"
                places[name, default: []].append(Place(range: range, isBare: isBare))
            }
        }
    }

    /// The document with these values in place of its own.
    func setting(_ values: [String: String]) -> String {
        let changes = values.flatMap { name, value in (places[name] ?? []).map { ($0, value) } }
        var changed = text
        for (place, value) in changes.sorted(by: { $0.0.range.lowerBound > $1.0.range.lowerBound }) {
            let isNumber = Extreme.numbers.contains(value)
            changed.replaceSubrange(place.range, with: place.isBare && !isNumber ? "\"\(value)\"" : value)
        }
        return changed
    }

    /// As many documents as there are extremes: in each of them every field has another one, and over all of them every field has
    /// had each.
    func turned(but kept: Set<String> = []) -> [String] {
        Extreme.all.indices.map { turn in
            let values = names.enumerated().filter { !kept.contains($0.element) }.map { index, name in
                (name, Extreme.all[(index * 7 + turn) % Extreme.all.count])
            }
            return setting(Dictionary(uniqueKeysWithValues: values))
        }
    }
}
