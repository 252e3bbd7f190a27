import BookModel

extension CatalogStore {
    /// Runs `body`, and closes the store however it ends.
    package func closing<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        let outcome = await Swift.Result.of(body)
        try await close()
        return try outcome.get()
    }
}
