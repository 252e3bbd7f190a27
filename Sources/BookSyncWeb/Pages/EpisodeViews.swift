import BookModel
import BookSync
import Foundation

/// A button that acts on something.
struct ActionView: ViewModel {
    var action: String
    /// The field's name and value that say on what.
    var field: String
    var value: String
    var label: String
    /// What a screen reader says: the label, and of what.
    var spoken: String
    /// What it acts on.
    var of: String
    /// A class of the style sheet.
    var kind = ""
    /// What it says beside: fields that nobody sees.
    var hidden: [FieldView] = []
    /// What it asks first, nil where it does not, and the button that means it.
    var question: String?
    var answer = ""
}

/// A field of a form.
struct FieldView: ViewModel {
    var name: String
    var value: String
}

/// A button that plays an episode, with all that the player has to know.
struct PlayView: ViewModel {
    var media: String
    var page: String
    /// Seconds.
    var at: Int
    /// Of the position, as the page knew it.
    var revision: Int
    /// Whether it plays from there, wherever the visitor stopped.
    var isExact = false
    /// How fast the visitor listens to the book; nil where they never said.
    var speed: String?
    var name: String
    var album: String
    var artist: String
    var cover: String
    var source: String
    var book: String
    var id: String
    /// nil where the sign alone stands.
    var label: String?
    var spoken: String
}

/// A row of a table of episodes.
struct EpisodeView: ViewModel {
    var rowID: String
    var source: String
    var book: String
    var id: String
    var number: Int
    var name: String
    var page: String
    var bookTitle: String
    var bookPage: String
    var length: String
    var size: String
    /// A word for style sheet and script.
    var state: String
    var stateLabel: String
    /// How far it is.
    var bar: (value: Int64, max: Int64, label: String)?
    /// What moves: bytes, speed, time left.
    var moving: String
    var heard: String?
    var error: String?
    var player: PlayView?
    /// Of the audio, for those without script.
    var media: String?
    var actions: [ActionView]
    /// Whether the visitor looked for it by its number.
    var isSought = false
}

/// What a user sees of an episode's state: more than the store's words, since something that nobody asked for yet
/// does not wait.
enum SeenState: String, Sendable, CaseIterable {
    case absent, waiting, interrupted, downloading, finished, paused, failed, cancelled, locked, removed,
        gone

    init(_ episode: ShelfReader.EpisodeOnDisk, isRunUnderWay: Bool) {
        let shelved = episode.shelved
        switch shelved.state {
        case .waiting where shelved.transfer == nil: self = .absent
        case .waiting: self = isRunUnderWay ? .waiting : episode.bytesDone > 0 ? .interrupted : .absent
        case let state: self = SeenState(rawValue: state.rawValue) ?? .absent
        }
    }
}

/// Makes the models of pages, in the words of one visitor.
struct ViewMaker: Sendable {
    let phrases: Strings
    let routes: ShelfAddresses
    let visitor: Visitor
    let isRunUnderWay: Bool
    /// Seconds.
    let keptInTrash: Double

    /// - Parameter question: before files go to the trash.
    func words(of question: Phrase) -> String {
        let days = Int(keptInTrash / 86_400)
        let time = days > 0 ? phrases(.countDays, count: days) : phrases.span(keptInTrash)
        return phrases(question, ["time": time])
    }

    func row(
        _ episode: ShelfReader.EpisodeOnDisk, of book: Book, position: ListeningPosition? = nil,
        speed: Double? = nil, label: Phrase? = nil
    ) -> EpisodeView {
        let (shelved, identity) = (episode.shelved, episode.shelved.episode.identity)
        let state = SeenState(episode, isRunUnderWay: isRunUnderWay)
        let size = shelved.file?.size ?? shelved.transfer?.total ?? shelved.episode.size
        let file = shelved.removedAt == nil ? shelved.file : nil
        var view = EpisodeView(
            rowID: identity.pathName, source: identity.book.source, book: identity.book.id,
            id: identity.key, number: shelved.episode.section, name: shelved.episode.name,
            page: routes.page(of: identity), bookTitle: book.title, bookPage: routes.page(of: identity.book),
            length: shelved.duration.map(phrases.clock) ?? "", size: size.map(phrases.bytes) ?? "",
            state: state.rawValue, stateLabel: phrases(named: "state.\(state.rawValue)"), bar: nil, moving: "",
            heard: heard(position), error: state == .failed ? shelved.transfer?.error.map { phrases($0) } : nil,
            player: nil,
            media: file.map(routes.audio), actions: actions(on: shelved, state))
        view.player = file.map { play(shelved.episode, $0, of: book, at: position, speed: speed, label: label) }
        switch state {
        case .downloading, .paused, .interrupted, .failed, .waiting:
            guard episode.bytesDone > 0 || state == .downloading else { break }
            view.bar = (episode.bytesDone, max(size ?? 0, episode.bytesDone, 1), view.name)
            view.moving = progress(episode.bytesDone, of: size)
        default: break
        }
        return view
    }

    /// `4.2 MB of 9.8 MB`
    func progress(_ done: Int64, of all: Int64?) -> String {
        guard let all else { return phrases.bytes(done) }
        return phrases(.bytesOf, ["done": phrases.bytes(done), "all": phrases.bytes(all)])
    }

    func heard(_ position: ListeningPosition?) -> String? {
        guard let position else { return nil }
        if position.isFinished { return phrases(.heard) }
        guard position.seconds >= 1, let duration = position.duration, duration > position.seconds else { return nil }
        return phrases(.heardTo, ["time": phrases.clock(duration - position.seconds)])
    }

    func play(
        _ episode: Episode, _ file: LocalFile, of book: Book, at position: ListeningPosition?, speed: Double? = nil,
        label: Phrase? = nil
    ) -> PlayView {
        let identity = episode.identity
        return PlayView(
            media: routes.audio(file), page: routes.page(of: identity),
            at: position.map { $0.isFinished ? 0 : Int($0.seconds) } ?? 0, revision: Int(position?.revision ?? 0),
            speed: speed.map { "\($0)" },
            name: episode.name, album: book.title, artist: book.author ?? book.narrator ?? "",
            cover: routes.cover(of: identity.book),
            source: identity.book.source, book: identity.book.id, id: identity.key, label: label.map { phrases($0) },
            spoken: phrases(
                .actionOf, ["action": phrases(label ?? .play), "name": episode.name]))
    }

    // MARK: Actions

    /// What the visitor can say of a book or an episode for themselves.
    /// - Parameters:
    ///   - field: `ref` or `episode`.
    ///   - isPlayed: whether all of it was played.
    ///   - isBegun: whether any of it was listened to.
    func marks(_ field: String, _ value: String, of name: String, isPlayed: Bool, isBegun: Bool) -> [ActionView] {
        guard visitor.keepsPositions else { return [] }
        func mark(
            _ label: Phrase, played: Bool, and more: [FieldView] = [], question: String? = nil
        ) -> ActionView {
            button(
                "mark", label, field: field, value: value, of: name, kind: "quiet",
                hidden: [FieldView(name: "played", value: "\(played)")] + more, question: question)
        }
        var marks: [ActionView] = []
        if !isPlayed { marks.append(mark(.markPlayed, played: true)) }
        if field == "episode" {
            marks.append(mark(.markPlayedUpTo, played: true, and: [FieldView(name: "up_to", value: "true")]))
        }
        if isBegun {
            let question = field == "ref" ? phrases(.markUnplayedQuestion) : nil
            marks.append(mark(.markUnplayed, played: false, question: question))
        }
        return marks
    }

    /// What takes a book out of those to go on with.
    func dismissal(of book: Book) -> [ActionView] {
        guard visitor.keepsPositions else { return [] }
        return [
            button(
                "dismiss", .dismiss, field: "ref", value: book.identity.pathReference, of: book.title,
                kind: "quiet")
        ]
    }

    private func actions(on shelved: EpisodeRecord, _ state: SeenState) -> [ActionView] {
        guard visitor.mayChange else { return [] }
        let episode = shelved.episode
        func button(
            _ action: String, _ label: Phrase, kind: String = "", hidden: [FieldView] = [], question: Phrase? = nil,
            answer: Phrase? = nil
        ) -> ActionView {
            self.button(
                action, label, field: "episode", value: episode.identity.pathName, of: episode.name,
                kind: kind, hidden: hidden, question: question.map(words), answer: answer)
        }
        let delete = button("remove", .delete, kind: "quiet", question: .deleteQuestion, answer: .deleteFile)
        let cancel = button("cancel", .cancel, kind: "quiet", question: .cancelQuestion)
        switch state {
        case .absent: return [button("fetch", .download)]
        case .waiting, .downloading: return [button("pause", .pause), cancel]
        case .interrupted: return [button("fetch", .resume, kind: "primary"), cancel]
        case .paused: return [button("resume", .resume, kind: "primary"), cancel]
        case .failed: return [button("resume", .retry, kind: "primary"), cancel]
        case .cancelled: return [button("resume", .download)]
        case .finished: return [delete]
        case .gone: return shelved.file == nil ? [] : [delete]
        case .removed: return [button("fetch", .downloadAgain, hidden: [FieldView(name: "force", value: "true")])]
        case .locked: return []
        }
    }

    /// - Parameters:
    ///   - hidden: fields that nobody sees.
    ///   - question: that it asks first.
    ///   - answer: the button that means it; nil for one that is called the same.
    func button(
        _ action: String, _ label: Phrase, field: String, value: String, of name: String, kind: String = "",
        hidden: [FieldView] = [], question: String? = nil, answer: Phrase? = nil
    ) -> ActionView {
        ActionView(
            action: routes.action(action), field: field, value: value, label: phrases(label),
            spoken: phrases(.actionOf, ["action": phrases(label), "name": name]), of: name, kind: kind, hidden: hidden,
            question: question, answer: phrases(answer ?? label))
    }
}
