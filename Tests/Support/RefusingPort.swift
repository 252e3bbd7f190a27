/// Gives the body a loopback port that refuses every connection. It is bound and held meanwhile, so that no other program of
/// the machine can listen there.
package func withRefusingPort<Answer>(
    isolation: isolated (any Actor)? = #isolation, _ body: (Int) async throws -> Answer
) async throws -> Answer {
    let (socket, port) = try Socket.bound()
    defer { socket.close() }
    return try await body(port)
}
