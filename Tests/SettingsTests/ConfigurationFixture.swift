import BookModel
import Foundation
import Support

@testable import Settings

/// Loads a configuration out of its text, as from a file in a folder of its own.
func loadConfiguration(
    _ text: String, environment: [String: String] = [:], overrides: ConfigurationOverrides = .init()
) async throws -> Configuration {
    try await withTemporaryPath { folder in
        try write(text, to: folder + "/config.yaml")
        return try Configuration.read(
            explicitPath: folder + "/config.yaml", environment: environment, homeFolder: "/home/me",
            currentFolder: "/here", overrides: overrides
        ).configuration
    }
}

/// The failure that loading the text ends with, without the folder in front of the file's name.
func configurationFailure(_ text: String, environment: [String: String] = [:]) async -> String? {
    do {
        _ = try await loadConfiguration(text, environment: environment)
        return nil
    } catch let failure as Failure {
        guard failure.kind == .configuration, failure.disposition == .stop else { return "of another kind: \(failure)" }
        let text = failure.description
        return text.range(of: "config.yaml").map { String(text[$0.lowerBound...]) } ?? text
    } catch {
        return "no Failure: \(error)"
    }
}
