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

/// A large value behind a reference, for what is copied from list to list by the thousands. Whoever changes it gets another one.
@propertyWrapper package struct Shared<Value: Sendable>: Sendable {
    @usableFromInline var content: [Value]

    @inlinable package init(wrappedValue: Value) { content = [wrappedValue] }

    @inlinable package var wrappedValue: Value {
        get { content[0] }
        set { content = [newValue] }
    }
}
