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

    func failure(_ path: String) -> Failure {
        let isProgram = kind == .program
        return Failure(
            isProgram ? .configuration : .inputOutput, disposition: isProgram ? .stop : .skip,
            what: "\(path) cannot be read as audio", why: why,
            remedy: isProgram ? "install ffmpeg and try again" : "check the disk and the file, or download it again")
    }
}
