import ArgumentParser
import BookModel
import BookSync
import Foundation

/// The options that every command takes, before or after its name.
struct CommonOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("The library's folder.", valueName: "dir"))
    var library: String?

    @Flag(name: [.short, .long], help: "Print errors only.")
    var quiet = false

    @Flag(name: [.short, .long], help: "Say more about what is done.")
    var verbose = false

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Print without colours.")
    var noColor = false
}
