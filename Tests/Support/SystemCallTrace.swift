import Foundation

/// The system calls of a traced process, in the order in which they happened.
///
/// `strace` stops a thread before and after each call and writes down both in the order in which it sees them. So a call
/// whose end stands above another's beginning was over before the other began, whichever threads they are of.
package struct SystemCallTrace: Sendable {
    package struct Call: Sendable {
        package let name: String
        /// Descriptors by their paths, texts decoded, everything else as it stands.
        package let arguments: [Argument]
        package let result: Int
        /// Lines of the trace.
        package let begin: Int
        package let end: Int

        /// The path of the argument's descriptor; nil where it is none.
        package func path(_ index: Int) -> String? {
            guard index < arguments.count, case .descriptor(_, let path) = arguments[index] else { return nil }
            return path
        }

        package func bytes(_ index: Int) -> [UInt8]? {
            guard index < arguments.count, case .text(let bytes) = arguments[index] else { return nil }
            return bytes
        }

        package func text(_ index: Int) -> String? { bytes(index).map { String(decoding: $0, as: UTF8.self) } }

        package func number(_ index: Int) -> Int? {
            guard index < arguments.count, case .other(let text) = arguments[index] else { return nil }
            return Int(text)
        }
    }

    package enum Argument: Sendable, Equatable {
        case descriptor(String, path: String)
        case text([UInt8])
        case other(String)
    }

    package let calls: [Call]

    /// What to give `strace` before the program: its own threads and children too, every byte of a page of the store, and
    /// all of it in hexadecimal, so that nothing in a text looks like the end of it.
    package static func options(to file: URL) -> [String] {
        [
            "-f", "-y", "-xx", "-s", "4200", "-o", file.path, "-e",
            "trace=write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,mkdirat", "-e", "signal=none",
        ]
    }

    /// The program that writes it.
    package static let tool = URL(filePath: "/usr/bin/strace")

    /// Whether the program is installed and this process may trace others.
    package static func isPossible() async -> Bool {
        await ProductRunner.succeeds(tool, ["-f", "-o", "/dev/null", "/bin/true"])
    }

    package init(_ text: String) {
        var calls: [Call] = []
        var unfinished: [Substring: (text: Substring, line: Int)] = [:]
        // By bytes: a trace is megabytes of hexadecimal.
        for (number, part) in text.utf8.split(separator: UInt8(ascii: "\n")).enumerated() {
            let line = Substring(part)
            guard let space = line.utf8.firstIndex(of: UInt8(ascii: " ")) else { continue }
            let thread = line[..<space]
            var rest = Substring(line[space...].utf8.drop { $0 == UInt8(ascii: " ") })
            var begin = number
            if let head = rest.utf8.dropping(suffix: " <unfinished ...>") {
                unfinished[thread] = (Substring(head), number)
                continue
            }
            if rest.utf8.starts(with: "<... ".utf8), let mark = rest.range(of: " resumed>"),
                let half = unfinished[thread]
            {
                rest = half.text + rest[mark.upperBound...]
                begin = half.line
                unfinished[thread] = nil
            }
            if let call = Self.call(rest, begin: begin, end: number) { calls.append(call) }
        }
        self.calls = calls.sorted { $0.begin < $1.begin }
    }

    private static func call(_ text: Substring, begin: Int, end: Int) -> Call? {
        guard let open = text.utf8.firstIndex(of: UInt8(ascii: "(")),
            let close = text.range(of: ") ", options: [.backwards, .literal])?.lowerBound,
            let equals = text.utf8[close...].firstIndex(of: UInt8(ascii: "="))
        else { return nil }
        let result = text[text.utf8.index(after: equals)...].drop { $0 == " " }.prefix { $0 == "-" || $0.isNumber }
        // Everything in texts and paths is written as \xHH, so a comma only ever separates.
        let arguments = text.utf8[text.utf8.index(after: open)..<close].split(separator: UInt8(ascii: ",")).map {
            argument(Substring($0.drop { $0 == UInt8(ascii: " ") }))
        }
        return Call(
            name: String(text[..<open]), arguments: arguments, result: Int(result) ?? 0, begin: begin, end: end)
    }

    private static func argument(_ text: Substring) -> Argument {
        let bytes = text.utf8
        if bytes.first == UInt8(ascii: "\"") {
            return .text(decoded(bytes.dropFirst().prefix { $0 != UInt8(ascii: "\"") }))
        }
        if let less = bytes.firstIndex(of: UInt8(ascii: "<")), let greater = bytes.lastIndex(of: UInt8(ascii: ">")) {
            let path = decoded(bytes[bytes.index(after: less)..<greater])
            return .descriptor(String(text[..<less]), path: String(decoding: path, as: UTF8.self))
        }
        return .other(String(text))
    }

    /// The bytes of `\x48\x49`, up to whatever else follows.
    private static func decoded(_ text: Substring.UTF8View) -> [UInt8] {
        let digits = Array(text)
        func value(_ digit: UInt8) -> UInt8 {
            digit <= UInt8(ascii: "9") ? digit &- UInt8(ascii: "0") : digit &- UInt8(ascii: "a") &+ 10
        }
        return stride(from: 0, to: digits.count - 3, by: 4).prefix { digits[$0] == UInt8(ascii: "\\") }
            .map { value(digits[$0 + 2]) << 4 | value(digits[$0 + 3]) }
    }
}

extension Substring.UTF8View {
    fileprivate func dropping(suffix ending: String) -> Substring.UTF8View? {
        suffix(ending.utf8.count).elementsEqual(ending.utf8) ? dropLast(ending.utf8.count) : nil
    }
}
