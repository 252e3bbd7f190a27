import BookModel

/// A configuration with what is known of where it came from.
package struct LoadedConfiguration: Sendable {
    package var configuration: Configuration
    /// The file that was read; nil where there was none.
    package var path: String?
    /// By the setting's key path; what is not here is built in.
    package var origins: [String: SettingOrigin] = [:]
    /// Secrets that stand in the file as they are.
    package var literalSecrets: [LiteralSecret] = []
    /// Absolute paths of the files that hold nothing but secrets.
    package var secretFiles: [String] = []
    /// Why the `.netrc` that nobody named is not used although it is there.
    package var netrcProblem: Message?
    /// Variables that look like settings and are none, each with the one that was probably meant.
    package var strangeVariables: [String: String?] = [:]
    /// What is wrong with it; none of it is used then.
    package var faults: [Failure] = []

    /// The settings in force with where each came from, as YAML; secrets masked.
    package func yamlText(in words: Wordings = Wordings(.english)) -> String {
        configuration.effectiveDescription.yamlText(origins: { words((origins[$0] ?? .builtIn).message) })
    }

    /// The same as JSON: the settings, and behind them `origins`, by the settings' key paths.
    package var document: JSONDocument {
        let shown = configuration.effectiveDescription
        return shown.document.adding([
            "origins": .object(
                shown.keyPaths.map { .init(key: $0.shown, value: (origins[$0.keyPath] ?? .builtIn).document) })
        ])
    }
}
