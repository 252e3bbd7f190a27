import Support
import Testing

/// What runs the built product as a process, but for ``MainJobTests``.
@Suite(.limitedConcurrency, .full) struct ProductTests {}

/// The main job through the built product, which is also among the quick tests: a book is fetched, a shelf is mirrored, and each run
/// is recorded.
@Suite(.limitedConcurrency) struct MainJobTests {}

/// The served shelf in browsers. One needs most of a small machine, so they run one after the other, beside all other tests.
@Suite(.serialized, .firstInLine) struct ForeignClientTests {}

/// Other people's servers, podcast apps and fuzzers, likewise one after the other.
@Suite(.serialized, .firstInLine) struct ForeignProgramTests {}
