import BookModel
import Foundation

/// How many files the process may have open at once.
enum OpenFileLimit {
    /// Each loop of SwiftNIO takes three, and SwiftNIO stops the process where it gets none.
    private static let least: rlim_t = 64
    /// What all connections of a server and all transfers of a run are well served with.
    private static let ample: rlim_t = 4096
    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif

    /// Raises the limit as far as the system lets every process do so.
    ///
    /// - Throws: ``Failure`` of kind `inputOutput` where that is not enough to work with.
    static func raise() throws {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < ample else { return }
        limit.rlim_cur = min(limit.rlim_max, ample)
        setrlimit(resource, &limit)
        guard limit.rlim_cur < least else { return }
        throw Failure(
            .inputOutput, disposition: .stop, what: "only \(limit.rlim_cur) files may be open at once",
            why: "booksync needs \(least) at least", remedy: "raise the limit: ulimit -n 1024")
    }
}
