import BookModel
import DownloadEngine

/// The order of a run over many books: news first.
///
/// A book that lacks few episodes comes before one that lacks many, so that last night's episodes do not wait behind the
/// hundreds of a book that was subscribed to yesterday. What failed before comes after everything that did not, the
/// more often it failed the later: it may well fail again, and costs time-outs. Where that says nothing, the books come
/// in the order of the request, and the episodes of a book in the order that the plan has them in.
struct RunOrder {
    private var books: [[TransferRequest]] = []
    private var failedBefore: [TransferRequest] = []

    mutating func add(_ requests: [TransferRequest]) {
        failedBefore += requests.filter { $0.earlierFailures > 0 }
        let fresh = requests.filter { $0.earlierFailures == 0 }
        if !fresh.isEmpty { books.append(fresh) }
    }

    /// Everything that was added, in order.
    consuming func requests() -> [TransferRequest] {
        var requests: [TransferRequest] = []
        requests.reserveCapacity(books.reduce(failedBefore.count) { $0 + $1.count })
        for index in books.indices.sorted(by: { (books[$0].count, $0) < (books[$1].count, $1) }) {
            requests += books[index]
            // There may be very many of them.
            books[index] = []
        }
        for index in failedBefore.indices.sorted(by: { comesBefore($0, $1) }) { requests.append(failedBefore[index]) }
        return requests
    }

    private func comesBefore(_ one: Int, _ other: Int) -> Bool {
        (failedBefore[one].earlierFailures, one) < (failedBefore[other].earlierFailures, other)
    }
}

extension TransferRequest {
    /// How many runs gave up on the episode since it last made progress.
    var earlierFailures: Int { record?.attempts ?? 0 }
}
