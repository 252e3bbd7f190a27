import Testing

/// Everything that runs the built product as a process. One after the other: how promptly a process answers a signal
/// can be told only where no others compete with it.
@Suite(.serialized) struct ProductTests {}

/// The served shelf in the hands of other people's programs: browsers, podcast apps, fuzzers. They wait more than they work,
/// so they go beside all others, one after the other.
@Suite(.serialized) struct ForeignClientTests {}
