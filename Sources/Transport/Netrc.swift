import BookModel

/// What a `.netrc` says: users and passwords of machines, in the words of ftp(1) and curl.
package struct Netrc: Sendable, Hashable {
    struct Entry: Sendable, Hashable {
        /// In lower case; nil for `default`, which is for every machine that is not named.
        var machine: String?
        var login: Secret?
        var password: Secret?
    }

    private(set) var entries: [Entry] = []

    /// Of nobody.
    package static let empty = Netrc()

    private init() {}

    var isEmpty: Bool { entries.isEmpty }

    package var hasPasswords: Bool { entries.contains { $0.password != nil } }

    /// Words stand apart by white space; one in double quotes may hold any, with `\"` and `\\` (and `\n`, `\r`, `\t`) in
    /// it. `macdef` goes to the next empty line; `#` where a keyword could stand, to the end of its line.
    ///
    /// - Throws: ``UnreadableLine``.
    package init(parsing text: String) throws(UnreadableLine) {
        var words = NetrcWords(text)
        while let word = try words.next() {
            switch word {
            case "machine": entries.append(Entry(machine: try words.value(of: word).lowercased()))
            case "default": entries.append(Entry())
            case "login", "password", "account":
                let value = Secret(try words.value(of: word))
                guard !entries.isEmpty else {
                    throw UnreadableLine(line: words.line, why: "'\(word)' stands before any 'machine'")
                }
                if word == "login" { entries[entries.count - 1].login = value }
                if word == "password" { entries[entries.count - 1].password = value }
            case "macdef":
                _ = try words.value(of: word)
                words.skipMacro()
            case _ where word.hasPrefix("#"): words.skipLine()
            // Not quoted: it may be half a password.
            default: throw UnreadableLine(line: words.line, why: "a word there is no keyword of a netrc file")
            }
        }
    }

    /// What is said for a host: of the machine of that name, else by `default` where that is allowed to count.
    package func authorization(for host: String, orDefault: Bool) -> Authorization? {
        let host = host.lowercased()
        let entry = entries.first { $0.machine == host } ?? (orDefault ? entries.first { $0.machine == nil } : nil)
        guard let entry, entry.login != nil || entry.password != nil else { return nil }
        return .basic(user: entry.login ?? Secret(""), password: entry.password ?? Secret(""))
    }
}

/// Takes a netrc file apart.
private struct NetrcWords {
    private let text: String.UnicodeScalarView
    private var rest: Substring.UnicodeScalarView
    /// Of the word that was read last, from 1 on.
    var line: Int { 1 + text[..<rest.startIndex].count { $0 == "\n" } }

    init(_ text: String) {
        self.text = text.unicodeScalars
        rest = self.text.dropFirst(self.text.first == "\u{FEFF}" ? 1 : 0)
    }

    mutating func next() throws(UnreadableLine) -> String? {
        rest = rest.drop(while: \.properties.isWhitespace)
        guard let first = rest.first else { return nil }
        if first == "\"" { return try quoted() }
        let word = rest.prefix { !$0.properties.isWhitespace }
        rest = rest[word.endIndex...]
        return String(word)
    }

    mutating func value(of keyword: String) throws(UnreadableLine) -> String {
        let line = line
        guard let value = try next() else { throw UnreadableLine(line: line, why: "'\(keyword)' has nothing after it") }
        return value
    }

    mutating func skipLine() { rest = rest.drop { $0 != "\n" } }

    /// To behind the next empty line.
    mutating func skipMacro() {
        repeat {
            skipLine()
            rest = rest.dropFirst()
        } while rest.first.map { $0 != "\n" && $0 != "\r" } ?? false
    }

    private mutating func quoted() throws(UnreadableLine) -> String {
        let begin = line
        var word = String.UnicodeScalarView()
        rest.removeFirst()
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"": return String(word)
            case "\\":
                guard let escaped = rest.popFirst() else { break }
                switch escaped {
                case "n": word.append("\n")
                case "r": word.append("\r")
                case "t": word.append("\t")
                default: word.append(escaped)
                }
            default: word.append(scalar)
            }
        }
        throw UnreadableLine(line: begin, why: "a quotation mark is not closed")
    }
}
