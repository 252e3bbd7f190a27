import ArgumentParser
import BookModel
import BookSync
import Foundation

/// The options that every command takes, before or after its name.
struct CommonOptions: ParsableArguments {
    @Option(help: .words("The configuration file.", valueName: "file"), completion: .file())
    var config: String?

    @Option(help: .words("The library's folder, or its name.", valueName: "dir"), completion: .directory)
    var library: String?

    @Flag(name: [.short, .long], help: .words("Print errors only."))
    var quiet = false

    @Flag(name: [.short, .long], help: .words("Say more about what is done; -vv says most."))
    var verbose: Int

    @Option(help: .words("The form of the log's lines.", valueName: "form"))
    var logFormat = LogOutput.Format.text

    @Option(
        help: .words(
            "Append the log to a file, runs and their files included, instead of standard error.", valueName: "file"),
        completion: .file())
    var logFile: String?

    @Flag(help: .words("Print JSON."))
    var json = false

    @Flag(help: .words("Print without colours."))
    var noColor = false
}

extension String {
    /// The path as an absolute one, or as it is where it counts from somebody's home: in a configuration a relative one would
    /// count from its file's folder, and the user means the current one.
    var fromCurrentFolder: String {
        hasPrefix("/") || hasPrefix("~") ? self : FileManager.default.currentDirectoryPath + "/" + self
    }
}
