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

/// Runs `body`, and cancels it when it takes longer.
/// - Returns: nil when it did.
package func limited<Value: Sendable>(
    to seconds: Double, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value? {
    try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: .seconds(min(seconds, 1e9)))
            return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
    }
}

extension Sequence where Self: Sendable, Element: Sendable {
    /// Makes something of each element, of so many at once.
    /// - Returns: what was made, in the order of the elements.
    /// - Throws: what `body` throws first; then the others are cancelled.
    package func concurrentMap<Made: Sendable>(
        atOnce count: Int, _ body: @escaping @Sendable (Element) async throws -> Made
    ) async throws -> [Made] {
        try await withThrowingTaskGroup(of: (Int, Made).self) { group in
            var made: [Int: Made] = [:]
            for (index, element) in enumerated() {
                if index >= count, let (done, value) = try await group.next() { made[done] = value }
                group.addTask { (index, try await body(element)) }
            }
            for try await (index, value) in group { made[index] = value }
            return made.sorted { $0.key < $1.key }.map(\.value)
        }
    }
}

extension Array where Element: Sendable {
    /// Makes something of each part of the array, of several at once on all cores, and hands it on in the order of the parts.
    /// - Parameter count: elements of a part.
    package func inParts<Made: Sendable>(
        of count: Int = 4096, make: @escaping @Sendable (ArraySlice<Element>) -> Made, use: (Made) async -> Void
    ) async {
        await withTaskGroup(of: (Int, Made).self) { group in
            var made: [Int: Made] = [:]
            var (begun, next) = (0, 0)
            func beginNext() {
                guard begun < self.count else { return }
                let part = self[begun..<Swift.min(begun + count, self.count)]
                begun = part.endIndex
                group.addTask { (part.startIndex, make(part)) }
            }
            for _ in 0..<8 { beginNext() }
            while let (start, part) = await group.next() {
                made[start] = part
                while let part = made.removeValue(forKey: next) {
                    await use(part)
                    next += count
                    beginNext()
                }
            }
        }
    }
}
