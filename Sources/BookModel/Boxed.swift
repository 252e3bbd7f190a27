/// Keeps a large value behind a reference, in an array of at most one. A plan copies the records of thousands of episodes several
/// times, and few have such a value.
@propertyWrapper package struct Boxed<Value: Sendable & Hashable>: Sendable, Hashable {
    @usableFromInline var content: [Value]

    @inlinable package init(wrappedValue: Value?) { content = wrappedValue.map { [$0] } ?? [] }

    @inlinable package var wrappedValue: Value? {
        get { content.first }
        set { content = newValue.map { [$0] } ?? [] }
    }
}
