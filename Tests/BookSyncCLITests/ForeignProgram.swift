import Foundation
import Support

extension ForeignProgram {
    /// Runs it to its end in the workbench's folder.
    static func run(
        _ name: String, _ arguments: [String], environment: [String: String] = [:], in bench: Workbench
    ) async throws -> ProductRunner.Result {
        try await withProduct(arguments, environment: environment, in: bench.folder, executable: path(name)) {
            try await $0.result()
        }
    }
}
