import Testing

/// Everything that runs the built product as a process. One after the other: how promptly a process answers a signal
/// can be told only where no others compete with it.
@Suite(.serialized) struct ProductTests {}
