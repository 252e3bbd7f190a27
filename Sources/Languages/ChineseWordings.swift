extension Wordings {
    /// By the English; see ``Message``.
    static let chinese = [
        chineseCatalogs, chineseCommands, chineseDoctor, chineseExplanation, chineseExports, chineseHelp,
        chineseFinding,
        chineseImports, chineseJoining, chineseCollections, chineseTagging, chineseLibrary, chineseMedia, chineseNaming,
        chineseKeeping, chineseLibraries,
        chineseRuns,
        chineseServer,
        chineseSettings,
        chineseStore, chineseSystem,
        chineseTransfers,
    ]
    .reduce(into: [:]) { $0.merge($1) { first, _ in first } }
}
