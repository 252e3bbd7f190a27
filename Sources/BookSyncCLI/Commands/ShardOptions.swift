import ArgumentParser
import BookModel
import LibraryFiles
import Settings

/// Which worker of a fleet this is.
struct ShardOptions: ParsableArguments {
    @Option(
        help: .words(
            """
            Take this share of the books, as in 3/16, and keep it in the library of that number; auto in a Slurm array or an \
            indexed Kubernetes job.
            """, valueName: "i/n"))
    var shard: String?

    @Option(help: .words("How many such workers run at once; they divide what each host allows.", valueName: "n"))
    var concurrent: Int?

    func validate() throws {
        if let shard, shard != "auto", Shard(parsing: shard) == nil {
            throw ValidationError(
                .words("--shard takes a share such as 3/16, from 0/16 to 15/16, or auto, not '\(shard)'."))
        }
        if let concurrent, concurrent < 1 || shard == nil {
            throw ValidationError(.words("--concurrent takes a number from 1 on, beside --shard."))
        }
    }

    /// Where a scheduler says which of its tasks this is.
    private static let variables = ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"]

    /// - Parameter configuration: with the libraries of all workers.
    /// - Returns: the configuration for this worker alone, and its share; nil where it is not one of several.
    /// - Throws: ``Failure`` of kind `usage` or `configuration`; as ``KnownLibraries/requireMounted(_:mayLackRecords:)`` does.
    func share(
        of configuration: Configuration, environment: [String: String], _ knownLibraries: KnownLibraries?
    ) async throws -> (configuration: Configuration, shard: Shard)? {
        guard let text = shard else { return nil }
        let places = configuration.configuredLibraries
        let shard: Shard?
        if text == "auto" {
            guard let number = Self.variables.lazy.compactMap({ environment[$0].flatMap { Int($0) } }).first else {
                throw Failure(
                    .usage, what: "--shard auto does not tell which shard is meant",
                    why: "no variable \(Self.variables[0]) or \(Self.variables[1]) is set",
                    remedy: "run it as a task of a Slurm array or an indexed Kubernetes job, or write --shard I/N")
            }
            shard = Shard(index: number, count: places.count)
        } else {
            shard = Shard(parsing: text)
        }
        // A whole array of another number of tasks leaves libraries without a worker; one of single tasks is meant so.
        let count = (environment["SLURM_ARRAY_TASK_MAX"].flatMap { Int($0) } ?? 0).addingSaturated(1)
        let isWhole =
            environment["SLURM_ARRAY_TASK_MIN"] == "0" && environment["SLURM_ARRAY_TASK_COUNT"] == "\(count)"
        guard let shard, shard.count == places.count,
            text != "auto" || !isWhole || [1, places.count].contains(count)
        else {
            throw Failure(
                .configuration, disposition: .stop, what: "there is no library for --shard \(text)",
                why: "the configuration names \(places.count) under 'libraries'",
                remedy: "make one for each shard, and see that all of them are mounted")
        }
        let place = places[shard.index]
        let paths = places.map(\.path)
        // Before the record is made, which would look like a library.
        try await knownLibraries?.requireMounted(place.path, mayLackRecords: !configuration.subscriptions.isEmpty)
        try await runBlocking { try ShardRecord.require(shard, of: paths) }
        let parent = place.path.split(separator: "/").dropLast().map { "/\($0)" }.joined()
        var alone = configuration.choosing(place)
        // Which book goes where the shards say; the other libraries' stores may lie on other machines.
        alone.configuredLibraries = [place]
        let own =
            try alone
            .divided(among: concurrent ?? shard.count, waitsIn: parent + "/.booksync-waits")
        return (own, shard)
    }
}
