import ArgumentParser
import BookModel
import BookSync

/// How files come into the library.
struct ImportModeOptions: ParsableArguments {
    @Flag(help: .words("Give the files a second name in the library; they must be on the same disk."))
    var link = false

    @Flag(help: .words("Copy the files into the library."))
    var copy = false

    @Flag(help: .words("Move the files into the library."))
    var move = false

    func validate() throws {
        if [link, copy, move].count(where: \.self) > 1 {
            throw ValidationError(.words("--link, --copy and --move exclude each other."))
        }
    }

    /// Nil where they are in it already.
    var way: AdoptionRequest.ImportMode? { link ? .link : copy ? .copy : move ? .move : nil }
}
