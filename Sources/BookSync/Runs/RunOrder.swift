import BookModel
import DownloadEngine

/// What comes first of what a run has to fetch.
enum RunOrder {
    /// Book by book, as they come.
    case asAsked
    /// A book that lacks few episodes comes before one that lacks many, so that last night's episodes do not wait behind
    /// the hundreds of a book that was subscribed to yesterday. What failed before comes after everything that did not,
    /// the more often it failed the later: it may well fail again, and costs time-outs.
    case newsFirst
    /// Before everything else: somebody waits for it.
    case atOnce

    /// - Parameter requests: of one book, in the order that the plan has them in.
    /// - Returns: the same with their ranks.
    func ranked(_ requests: [TransferRequest]) -> [TransferRequest] {
        let count = requests.count { $0.earlierFailures == 0 }
        return requests.map { request in
            var request = request
            request.rank =
                switch self {
                case .asAsked: 0
                case .newsFirst where request.earlierFailures > 0:
                    Int(UInt32.max).addingSaturated(request.earlierFailures)
                case .newsFirst: count
                case .atOnce: -1
                }
            return request
        }
    }
}

extension TransferRequest {
    /// How many runs gave up on the episode since it last made progress.
    var earlierFailures: Int { record?.attempts ?? 0 }
}
