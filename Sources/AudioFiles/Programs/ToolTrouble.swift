import BookModel

/// Why a program gave no result.
struct ToolTrouble: Sendable {
    enum Kind {
        /// The program is at fault, not the file.
        case program
        /// It ended by itself, with an error.
        case exited
        case file
    }

    let kind: Kind
    let why: Message

    init(_ kind: Kind, _ why: Message) {
        (self.kind, self.why) = (kind, why)
    }

    static let unreadable = ToolTrouble(.file, "the output of the program cannot be understood")

    /// Where the program was to read the file.
    func failure(_ path: String) -> Failure {
        if kind == .program { return failure(what: "\(path) cannot be read as audio") }
        return Failure(
            .inputOutput, what: "\(path) cannot be read as audio", why: why,
            remedy: "check the disk and the file, or download it again", reason: .unreadableAudio)
    }

    /// Where the program was to write the file, of others that can be read.
    func failure(writing path: String) -> Failure {
        if kind == .program { return failure(what: "\(path) cannot be written") }
        return Failure(
            .inputOutput, what: "\(path) cannot be written", why: why,
            remedy: "see whether the disk has room, and whether ffmpeg is up to date")
    }

    private func failure(what: Message) -> Failure {
        Failure(.configuration, disposition: .stop, what: what, why: why, remedy: "install ffmpeg and try again")
    }
}
