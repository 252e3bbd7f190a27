import Support
import Testing

/// Everything that runs the built product as a process.
@Suite(.limitedConcurrency) struct ProductTests {}

/// The served shelf in the hands of other people's programs: browsers, podcast apps, fuzzers. A browser needs most of a small
/// machine, so they run one after the other, beside all other tests.
@Suite(.serialized, .limitedConcurrency) struct ForeignClientTests {}
