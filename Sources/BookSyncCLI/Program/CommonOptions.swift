import ArgumentParser
import BookModel
import BookSync
import Foundation

/// The options that every command takes, before or after its name.
struct CommonOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The configuration file.", valueName: "file"), completion: .file())
    var config: String?

    @Option(help: ArgumentHelp("The library's folder.", valueName: "dir"), completion: .directory)
    var library: String?

    @Flag(name: [.short, .long], help: "Print errors only.")
    var quiet = false

    @Flag(name: [.short, .long], help: "Say more about what is done; -vv says most.")
    var verbose: Int

    @Option(help: ArgumentHelp("The form of the log's lines.", valueName: "form"))
    var logFormat = LogOutput.Format.text

    @Option(
        help: ArgumentHelp(
            "Append the log to a file, runs and their files included, instead of standard error.", valueName: "file"),
        completion: .file())
    var logFile: String?

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Print without colours.")
    var noColor = false
}
