import BookModel
import Foundation

/// What an action is about, as a client says it: in JSON, or in a form under the same names.
struct ActionArguments: Sendable, Hashable {
    /// An episode, its names as the catalog has them or as in paths.
    struct Name: Sendable, Hashable {
        var source: String
        var book: String
        var episode: String
    }

    struct Position: Sendable, Hashable {
        var name: Name
        var seconds: Double
        var duration: Double?
        var isFinished: Bool?
        /// What the player knew of; nil replaces whatever there is.
        var revision: Int64?
    }

    /// REFs as on the command line.
    var refs: [String] = []
    var episodes: [Name] = []
    var all = false
    var forget = false
    var force = false
    var latest: Int?
    var title: String?
    var position: Position?
    var note: String?
    /// Whether episodes are marked as played, or as never listened to.
    var played: Bool?
    /// Whether all up to the episode is meant.
    var upTo = false
    var speed: Double?
    /// Of a bookmark.
    var number: Int?
    /// A list of feeds in OPML.
    var outline: String?

    /// What may be named at once.
    static let maxCount = 250

    enum Key: String, CaseIterable {
        case refs, episodes, all, forget, force, latest, title, position, note, played, speed, number, outline
        case upTo = "up_to"
    }

    /// What was said of all that can be.
    var given: Set<Key> = []

    static func refusal(_ why: Message) -> Failure {
        Failure(.usage, what: "the request cannot be understood", why: why)
    }

    /// - Throws: ``Failure`` of kind `usage` when an action got an argument that it does not have, or not told what it needs.
    func require(_ action: ShelfAction) throws {
        let known = action.arguments
        if let stray = Key.allCases.first(where: { given.contains($0) && !known.contains($0) }) {
            throw Self.refusal("'\(stray.rawValue)' is not an argument of \(action.rawValue)")
        }
        switch action {
        case .mirror: return
        case .follow:
            if outline?.isEmpty != false { throw Self.refusal("there is no 'outline'") }
        case .position, .bookmark:
            if position == nil { throw Self.refusal("there is no 'position'") }
        case .mark, .speed, .dismiss:
            if refs.count + episodes.count != 1 { throw Self.refusal("'refs' or 'episodes' is to name one") }
            if action == .mark, played == nil { throw Self.refusal("there is no 'played'") }
            if upTo, episodes.isEmpty { throw Self.refusal("'up_to' is about an episode") }
            if action == .speed, speed == nil { throw Self.refusal("there is no 'speed'") }
        case .removeBookmark:
            if number == nil { throw Self.refusal("there is no 'number'") }
            if refs.count > 1 { throw Self.refusal("'refs' is to name one book") }
        case .subscribe, .unsubscribe:
            if refs.isEmpty { throw Self.refusal("'refs' names no book") }
        case .preview:
            if refs.count != 1 { throw Self.refusal("'refs' is to name one book") }
        case .fetch:
            if refs.isEmpty, episodes.isEmpty { throw Self.refusal("neither 'refs' nor 'episodes' names anything") }
        case .pause, .resume, .cancel, .remove:
            // Of books that are named: what is in the queue of them.
            if all, action != .remove, episodes.isEmpty { break }
            if all != (refs.isEmpty && episodes.isEmpty) {
                throw Self.refusal(
                    all ? "it is about 'all' and about some" : "neither 'refs', 'episodes' nor 'all' is there")
            }
        }
        guard max(refs.count, episodes.count) <= Self.maxCount else {
            throw Self.refusal("it names more than \(Self.maxCount)")
        }
        if let latest, !(1...Int(Int32.max)).contains(latest) { throw Self.refusal("'latest' is a number from 1 on") }
        if let speed, !(0.25...4).contains(speed) { throw Self.refusal("'speed' lies between 0.25 and 4") }
        if let note, note.count > Bookmark.maxNote {
            throw Self.refusal("'note' has more than \(Bookmark.maxNote) characters")
        }
        if let title, title.isEmpty { throw Self.refusal("'title' is empty") }
        if let position {
            let maximum = ListeningPosition.maximum
            guard (0...maximum).contains(position.seconds) else {
                throw Self.refusal("'seconds' lies between 0 and \(Int(maximum))")
            }
            guard position.duration.map({ $0 > 0 && $0 <= maximum }) ?? true else {
                throw Self.refusal("'duration' lies between 0 and \(Int(maximum))")
            }
        }
    }
}

extension ShelfAction {
    var arguments: Set<ActionArguments.Key> {
        switch self {
        case .fetch: [.refs, .episodes, .force, .latest]
        case .pause, .resume, .cancel: [.refs, .episodes, .all]
        case .remove: [.refs, .episodes, .all, .forget]
        case .subscribe: [.refs, .latest, .title]
        case .unsubscribe, .preview: [.refs]
        case .position: [.position]
        case .bookmark: [.position, .note]
        case .removeBookmark: [.number, .refs]
        case .mark: [.refs, .episodes, .played, .upTo]
        case .speed: [.refs, .episodes, .speed]
        case .dismiss: [.refs, .episodes]
        case .mirror: []
        case .follow: [.outline]
        }
    }
}

// MARK: JSON

extension ActionArguments {
    /// - Parameter json: an object; nothing at all says nothing.
    /// - Throws: ``Failure`` of kind `usage`.
    init(json: [UInt8]) throws {
        guard !json.isEmpty else { return }
        do {
            self = try JSONDecoder().decode(Body.self, from: Data(json)).arguments
        } catch let failure as Failure {
            throw failure
        } catch let error as DecodingError {
            throw Self.refusal(error.sentence)
        } catch {
            throw Self.refusal("it is no JSON")
        }
    }

    private struct Body: Decodable {
        var arguments = ActionArguments()

        init(from decoder: any Decoder) throws {
            let values = try decoder.knownValues(Key.allCases.map(\.rawValue))
            for key in Key.allCases where values.contains(AnyKey(key.rawValue)) {
                arguments.given.insert(key)
                let name = AnyKey(key.rawValue)
                switch key {
                case .refs: arguments.refs = try values.decode([String].self, forKey: name)
                case .episodes: arguments.episodes = try values.decode([EpisodeBody].self, forKey: name).map(\.name)
                case .all: arguments.all = try values.decode(Bool.self, forKey: name)
                case .forget: arguments.forget = try values.decode(Bool.self, forKey: name)
                case .force: arguments.force = try values.decode(Bool.self, forKey: name)
                case .latest: arguments.latest = try values.decodeWhole(name)
                case .title: arguments.title = try values.decode(String.self, forKey: name)
                case .outline: arguments.outline = try values.decode(String.self, forKey: name)
                case .note: arguments.note = try values.decode(String.self, forKey: name)
                case .played: arguments.played = try values.decode(Bool.self, forKey: name)
                case .upTo: arguments.upTo = try values.decode(Bool.self, forKey: name)
                case .speed: arguments.speed = try values.decode(Double.self, forKey: name)
                case .number: arguments.number = try values.decodeWhole(name)
                case .position: arguments.position = try values.decode(PositionBody.self, forKey: name).position
                }
            }
        }
    }

    private struct EpisodeBody: Decodable {
        var name: Name

        init(from decoder: any Decoder) throws {
            name = try Name(try decoder.knownValues(["source", "book_id", "id"]))
        }
    }

    private struct PositionBody: Decodable {
        var position: Position

        init(from decoder: any Decoder) throws {
            let values = try decoder.knownValues([
                "source", "book_id", "id", "seconds", "duration", "finished", "revision",
            ])
            position = Position(
                name: try Name(values), seconds: try values.decode(Double.self, forKey: AnyKey("seconds")),
                duration: try values.decodeIfPresent(Double.self, forKey: AnyKey("duration")),
                isFinished: try values.decodeIfPresent(Bool.self, forKey: AnyKey("finished")),
                revision: try values.decodeIfPresent(Int64.self, forKey: AnyKey("revision")))
        }
    }
}

private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { return nil }
}

extension ActionArguments.Name {
    fileprivate init(_ values: KeyedDecodingContainer<AnyKey>) throws {
        self.init(
            source: try values.decode(String.self, forKey: AnyKey("source")),
            book: try values.decode(String.self, forKey: AnyKey("book_id")),
            episode: try values.decode(String.self, forKey: AnyKey("id")))
    }
}

extension Decoder {
    /// The members of an object that has no others.
    fileprivate func knownValues(_ known: [String]) throws -> KeyedDecodingContainer<AnyKey> {
        let values = try container(keyedBy: AnyKey.self)
        if let stray = values.allKeys.first(where: { !known.contains($0.stringValue) }) {
            let name: Message = stray.stringValue.count > 40 ? "a member" : "'\(stray.stringValue)'"
            throw ActionArguments.refusal("\(name) is none of \(known.joined(separator: ", "))")
        }
        return values
    }
}

extension DecodingError {
    /// Without what was sent.
    fileprivate var sentence: Message {
        func keyPath(_ context: Context) -> Message {
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            return path.isEmpty ? "it" : "'\(path)'"
        }
        switch self {
        case .keyNotFound(let key, _): return "there is no '\(key.stringValue)'"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            return "\(keyPath(context)) is of another type"
        case .dataCorrupted(let context):
            return context.codingPath.isEmpty ? "it is no JSON" : "\(keyPath(context)) has no such value"
        @unknown default: return "it is no JSON"
        }
    }
}

extension KeyedDecodingContainer<AnyKey> {
    /// A number without a fraction; a decoder of whole numbers does not say which member had one.
    fileprivate func decodeWhole(_ key: AnyKey) throws -> Int {
        guard let number = Int(exactly: try decode(Double.self, forKey: key)) else {
            throw ActionArguments.refusal("'\(key.stringValue)' is of another type")
        }
        return number
    }
}
