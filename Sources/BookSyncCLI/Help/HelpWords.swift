import ArgumentParser
import BookModel
import Foundation
import Settings

// Help texts and complaints about arguments are made before a configuration is read; of it only the line with the language
// counts for them, and what is wrong with it is told by whoever reads it.

extension Wordings {
    /// Of the language that the environment, the configuration or the locale asks for.
    static let ofHelp = Wordings(.ofHelp(CommandLine.arguments, environment: ProcessInfo.processInfo.environment))
}

extension Language {
    fileprivate static func ofHelp(_ arguments: [String], environment: [String: String]) -> Language {
        let isNamed = environment[variable].flatMap(Language.init(localeName:)) != nil
        let configured = isNamed ? nil : configured(arguments, environment: environment)
        return configured ?? Language(environment: environment)
    }

    private static func configured(_ arguments: [String], environment: [String: String]) -> Language? {
        let option = "--config"
        let joined = arguments.lazy.compactMap { $0.hasPrefix(option + "=") ? $0.dropFirst(option.count + 1) : nil }
        let separate = zip(arguments, arguments.dropFirst()).first { $0.0 == option }?.1
        let path = Configuration.location(
            explicitPath: separate ?? joined.first.map(String.init), environment: environment,
            homeFolder: Program.homeFolder(in: environment), currentFolder: FileManager.default.currentDirectoryPath
        ).path
        // A device or a pipe is read once, by whoever needs all of it.
        guard let kind = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType,
            kind == .typeRegular, let bytes = FileManager.default.contents(atPath: path)
        else { return nil }
        let line = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
            .first { $0.hasPrefix("language:") }
        let value = line?.dropFirst("language:".count).prefix { $0 != "#" }.filter(\.isLetter)
        return value.flatMap(Language.init(rawValue:))
    }
}

extension String {
    /// In the language of help texts.
    static func words(_ message: Message) -> String { Wordings.ofHelp(message) }
}

extension ArgumentHelp {
    /// In the language of help texts.
    static func words(_ message: Message, valueName: String? = nil) -> ArgumentHelp {
        ArgumentHelp(Wordings.ofHelp(message), valueName: valueName)
    }
}
