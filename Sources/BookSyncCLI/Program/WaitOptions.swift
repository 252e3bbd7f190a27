import ArgumentParser
import BookModel

/// How long a command waits for a run that holds the library.
struct WaitOptions: ParsableArguments {
    @Option(help: .words("Wait up to this long for another run to finish, as in 60s.", valueName: "time"))
    var wait = "0"

    var seconds: Double { parseSeconds(wait) ?? 0 }

    func validate() throws {
        if parseSeconds(wait) == nil {
            throw ValidationError(.words("--wait takes a time such as 60s, not '\(wait)'."))
        }
    }
}
