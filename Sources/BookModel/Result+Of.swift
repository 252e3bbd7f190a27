extension Result where Failure == any Error {
    /// How the body ended.
    package static func of(_ body: () async throws -> Success) async -> Self {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
