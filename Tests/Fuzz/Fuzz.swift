import Foundation
import Support

/// Reads spoilt catalog answers until the time is up, and checks that whatever is read of them is sane:
/// `swift run -c release Fuzz feed|json|html [--seconds N] [--seed N] [--corpus DIR] [--kept DIR]`, and with
/// `--replay FILE` one input again, in all its variants.
///
/// Every input is written to a file before it is read, so that a crash leaves it behind; the same seed and corpus make
/// the same inputs in the same order. Inputs are altered by a seeded mutator (``Mutator``) and not by libFuzzer, because
/// `-sanitize=fuzzer` brings a `main` of its own: the target would have to be linked in another way than all others are,
/// and `swift build` of the package would end without it on platforms whose toolchain has no libFuzzer.
@main
struct Fuzz {
    private static let usage = """
        usage: Fuzz feed|json|html [--seconds N] [--seed N] [--corpus DIR] [--kept DIR] [--replay FILE]
          N     seconds to go on for (60); the seed of all that is random (1)
          DIR   --corpus: what is altered, with its sub-folders, instead of the corpus beside the repository;
                --kept: where the inputs are kept that were read wrongly (the folder for temporary files)
          FILE  is read as it is, and nothing else
        """

    private struct Refused: Error, CustomStringConvertible {
        let description: String
    }

    private struct Options {
        var reader: FuzzedReader
        var seconds = 60
        var seed: UInt64 = 1
        var corpus: String?
        var kept = NSTemporaryDirectory()
        var replayed: String?

        init(_ arguments: [String]) throws {
            var rest = arguments[...]
            guard let name = rest.popFirst(), let reader = FuzzedReader(rawValue: name) else {
                throw Refused(description: usage)
            }
            self.reader = reader
            while let argument = rest.popFirst() {
                guard let value = rest.popFirst() else { throw Refused(description: usage) }
                switch argument {
                case "--seconds": seconds = try Self.number(value)
                case "--seed": seed = try Self.number(value)
                case "--corpus": corpus = value
                case "--kept": kept = value
                case "--replay": replayed = value
                default: throw Refused(description: usage)
                }
            }
        }

        private static func number<Number: FixedWidthInteger>(_ text: String) throws -> Number {
            guard let number = Number(text), number >= 0 else { throw Refused(description: usage) }
            return number
        }
    }

    static func main() {
        // As small a stack as any thread has that answers are read on: nesting must not take more.
        let thread = Thread {
            do {
                exit(try run(Options(Array(CommandLine.arguments.dropFirst()))) ? 0 : 1)
            } catch {
                FileHandle.standardError.write(Data("\(error)\n".utf8))
                exit(2)
            }
        }
        thread.stackSize = 512 << 10
        thread.start()
        while true { sleep(1000) }
    }

    /// - Returns: whether everything was read as it should be.
    private static func run(_ options: Options) throws -> Bool {
        if let path = options.replayed { return try replay(path, options.reader) }
        let corpus = try options.reader.corpus(at: options.corpus)
        let record = try CaseRecord(reader: options.reader, seed: options.seed, folder: options.kept)
        say("\(options.reader): seed \(options.seed), \(corpus.joined().count) files, the input is in \(record.path)")
        let watchdog = Watchdog(record: record)
        defer { watchdog.cancel() }
        var mutator = Mutator(corpus: corpus, tokens: options.reader.tokens, seed: options.seed)
        var outcomes = Outcomes()
        let end = ContinuousClock.now + .seconds(options.seconds)
        while ContinuousClock.now < end {
            let input = mutator.next()
            let variant = outcomes.inputs % options.reader.variants
            try record.begin(input, number: outcomes.inputs)
            let outcome = options.reader.read(input, variant: variant)
            outcomes.add(outcome, bytes: input.count)
            for complaint in outcome.complaints where outcomes.isNews(complaint) {
                say("input \(outcomes.inputs - 1), variant \(variant): \(complaint)")
                say("  kept as \(try record.keep(input))")
            }
        }
        record.remove()
        say("\(options.reader): seed \(options.seed), \(outcomes)")
        return outcomes.complaints.isEmpty
    }

    private static func replay(_ path: String, _ reader: FuzzedReader) throws -> Bool {
        let input = Array(try Data(contentsOf: URL(filePath: path)))
        var isSane = true
        for variant in 0..<reader.variants {
            let outcome = reader.read(input, variant: variant)
            say("variant \(variant): \(outcome)")
            isSane = isSane && outcome.complaints.isEmpty
        }
        return isSane
    }

    /// What came of all inputs.
    private struct Outcomes: CustomStringConvertible {
        var inputs = 0
        var complaints: [String: Int] = [:]
        private var bytes = 0
        private var listings = 0
        private var episodes = 0
        private var refusals = 0
        private let begin = ContinuousClock.now

        mutating func add(_ outcome: FuzzedReader.Outcome, bytes count: Int) {
            inputs += 1
            bytes += count
            listings += outcome.listings
            episodes += outcome.episodes
            refusals += outcome.refusals
            for complaint in outcome.complaints { complaints[Self.kind(complaint), default: 0] += 1 }
        }

        /// Whether it is the first of its kind.
        func isNews(_ complaint: String) -> Bool { complaints[Self.kind(complaint)] == 1 }

        /// What stands before the colon; the rest is of one input.
        private static func kind(_ complaint: String) -> String { String(complaint.prefix { $0 != ":" }) }

        /// Bytes.
        private static var peakMemory: Int {
            var usage = rusage()
            #if canImport(Darwin)
                getrusage(RUSAGE_SELF, &usage)
                return usage.ru_maxrss
            #else
                getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
                return usage.ru_maxrss * 1024
            #endif
        }

        var description: String {
            let seconds = (ContinuousClock.now - begin) / .seconds(1)
            let wrong = complaints.isEmpty ? "none of them wrong" : "wrong: \(complaints)"
            return """
                \(inputs) inputs of \(bytes / max(1, inputs)) bytes on average in \(Int(seconds)) s, \
                \(listings) listings with \(episodes) episodes, \(refusals) refusals; \
                peak memory \(Self.peakMemory >> 20) MiB; \(wrong)
                """
        }
    }
}

/// A line that is written at once: a crash would take along what is kept back.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
