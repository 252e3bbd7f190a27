import BookModel

extension Configuration {
    /// The same for one of several workers that run at once: of what a host may be asked for, this one has its part.
    /// - Parameters:
    ///   - count: of the workers, 1 or more.
    ///   - folder: where they tell each other which servers asked to be left alone.
    /// - Throws: ``Failure`` of kind `usage` where a host allows fewer requests at once than there are workers.
    package func divided(among count: Int, waitsIn folder: String) throws -> Configuration {
        guard downloads.jobsPerHost >= count else {
            throw Failure(
                .usage, what: "\(count) workers cannot run at once",
                why: "downloads.jobs-per-host is \(downloads.jobsPerHost), which leaves nothing for some of them",
                remedy: "set it to \(count) or more, or say with --concurrent how many workers run at once")
        }
        func part(of rate: Int64) -> Int64 { rate > 0 ? max(1, rate / Int64(count)) : rate }
        var own = self
        own.waitsFolder = folder
        own.downloads.jobsPerHost /= count
        own.downloads.limitRate = part(of: downloads.limitRate)
        own.sources = sources.mapValues { source in
            var source = source
            source.limitRate = part(of: source.limitRate)
            return source
        }
        return own
    }

    /// All subscriptions that a worker follows: of the configuration's its share, and those that name its library; and what its own
    /// library was subscribed to.
    /// - Parameters:
    ///   - shard: nil for all of them.
    ///   - stored: of its library.
    package func subscriptions(of shard: Shard?, with stored: [Subscription]) throws -> [Subscription] {
        let all = try allSubscriptions(with: stored)
        guard let shard else { return all }
        let own = zip(subscriptions, all).flatMap { setting, subscription in
            guard let name = setting.library else { return shard.part(of: [subscription]) }
            return name == place.name ? [subscription] : []
        }
        return own + all.dropFirst(subscriptions.count)
    }
}
