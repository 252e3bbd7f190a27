import BookModel
import Foundation

extension ActionArguments {
    /// - Parameter form: what is left empty in it is not said. Fields that are of no action, such as the form's token, are
    ///   passed over.
    /// - Throws: ``Failure`` of kind `usage`.
    init(form: FormFields) throws {
        for (name, value) in form.fields where !value.isEmpty {
            switch name {
            case "ref": refs.append(value.trimmingCharacters(in: .whitespacesAndNewlines))
            case "episode": episodes.append(try Name(path: value))
            case "all": all = Self.isSet(value)
            case "forget": forget = Self.isSet(value)
            case "force": force = Self.isSet(value)
            case "latest": latest = try Self.number(name, Int(value))
            case "title": title = value
            case "outline": outline = value
            case "note": note = value.trimmingCharacters(in: .whitespacesAndNewlines)
            case "played": played = Self.isSet(value)
            case "up_to": upTo = Self.isSet(value)
            case "speed": speed = try Self.number(name, Double(value))
            case "number": number = try Self.number(name, Int(value))
            default: break
            }
            if let key = Key(rawValue: ["ref": "refs", "episode": "episodes"][name] ?? name), key != .position {
                given.insert(key)
            }
        }
        guard let seconds = form["seconds"] else { return }
        guard let name = episodes.first, episodes.count == 1 else {
            throw Self.refusal("'seconds' needs exactly one 'episode'")
        }
        position = Position(
            name: name, seconds: try Self.number("seconds", Double(seconds)),
            duration: try form["duration"].flatMap { $0.isEmpty ? nil : $0 }.map {
                try Self.number("duration", Double($0))
            },
            isFinished: form["finished"].map(Self.isSet))
        episodes = []
        given.remove(.episodes)
        given.insert(.position)
    }

    /// What a checkbox, or a script, says.
    private static func isSet(_ value: String) -> Bool { !["0", "false", "off"].contains(value) }

    private static func number<Number>(_ name: String, _ number: Number?) throws -> Number {
        guard let number else { throw refusal("'\(name)' takes a number") }
        return number
    }
}

extension ActionArguments.Name {
    /// - Parameter path: `SOURCE/ID/EPISODE`, as in addresses.
    fileprivate init(path: String) throws {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }) else {
            throw ActionArguments.refusal("'episode' is SOURCE/ID/EPISODE")
        }
        self.init(source: parts[0], book: parts[1], episode: parts[2])
    }
}
