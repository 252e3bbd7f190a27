import BookModel

extension EngineRun {
    struct Transfer {
        var wanted: TransferRequest
        var record: TransferRecord
        var failuresInARow = 0
        /// The greatest length that an attempt of this run came to. Only what lies beyond is progress: a server that can
        /// not be resumed from, and cuts every answer at the same byte, would be asked for ever.
        var farthest: Int64 = 0
        var mustStartOver = false
        /// Who makes the attempt under way, and where others may help it.
        var worker: Int?
        var pieces: SegmentedDownload?
        /// Paused or cancelled by the user.
        var stoppedAs: TransferState?
        /// Whether it has come to a halt because of that.
        var hasHalted = false
        /// When the run gave it up, and had recorded that.
        var failedAt: ContinuousClock.Instant?
        var hasStartedOver = false
        /// SHA-256 of the file that it has started over for, where that came whole and was of no use.
        var spoiled: String?
        /// Attempts that the server had responded to when this transfer last met trouble; nil when it never did.
        var responsesAtTrouble: Int?
        /// Where a body without a declared length ended, before the catalog's size.
        var endedEarly: Int64?
        /// True if TLS was not closed behind its last body.
        var isNotClosed = false
        /// How far it had come when it last asked for another address; nil when it never did.
        private var farthestAtRenewal: Int64?
        var startedAt: ContinuousClock.Instant?
        /// Whether the journal shows that it has begun.
        var isShown = false
        var bytesReceived: Int64 = 0
        /// How the server's answers compare.
        var tags = ETagHistory()
        /// Of earlier runs; nil until an attempt has put bytes to use.
        var bytesReused: Int64?

        init(wanted: TransferRequest) {
            self.wanted = wanted
            record = wanted.record ?? TransferRecord(episode: wanted.episode.identity)
            tags.record(record.validator)
        }

        /// The name of the partial file.
        var partialName: String { PartialFile.name(for: wanted.episode.identity) }

        /// Bytes by the server's word, which was asked because the catalog's size does not fit on the disk.
        var declaredLength: Int64?

        /// Bytes of the whole, as the server said or else the catalog; nil when nobody knows.
        var length: Int64? { record.total ?? declaredLength ?? wanted.episode.size }

        /// Whether the next runs would meet the same, and wait as if it had failed in more of them.
        var isHopeless = false

        /// Whether a refused address is worth another one from the catalog: once, and again after every progress.
        mutating func mayRenew() -> Bool {
            if let farthestAtRenewal, farthest <= farthestAtRenewal { return false }
            farthestAtRenewal = farthest
            return true
        }
    }

    /// All transfers of a run, by their index in it. Thousands may wait for hours, so only what has begun, and is not
    /// finished, has a state of its own.
    struct Transfers {
        private var requests: [TransferRequest] = []
        private(set) var begun: [Int: Transfer] = [:]
        /// When those came to their end that did.
        private(set) var finished: [Int: ContinuousClock.Instant] = [:]
        private var withdrawn = 0

        var count: Int { requests.count - withdrawn }

        subscript(index: Int) -> Transfer {
            get { begun[index] ?? Transfer(wanted: requests[index]) }
            _modify { yield &begun[index, default: Transfer(wanted: requests[index])] }
        }

        /// - Returns: its index.
        mutating func add(_ request: TransferRequest) -> Int {
            requests.append(request)
            return requests.count - 1
        }

        /// Takes one out as if it had never been asked for.
        mutating func withdraw(_ index: Int) {
            _ = finish(index)
            withdrawn += 1
        }

        /// Lets go of a transfer that came to its end.
        mutating func finish(_ index: Int) -> Transfer {
            finished[index] = .now
            return begun.removeValue(forKey: index) ?? Transfer(wanted: requests[index])
        }

        /// Those that are not finished, waiting ones included.
        var unfinished: some Sequence<Transfer> {
            requests.indices.lazy.filter { finished[$0] == nil }.map { self[$0] }
        }
    }
}
