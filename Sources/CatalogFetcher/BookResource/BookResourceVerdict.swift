/// What a book-resource answer says of itself in `status` and `msg`; such errors come with HTTP 200.
enum BookResourceVerdict: Equatable {
    case good
    /// Asked too often: wait, and ask less often from then on.
    case tooFrequent
    case credentialsRejected
    case unknownBook
    case refused

    /// - Parameters:
    ///   - status: `status`, or `apiStatus` where that is the one that tells; nil when there is none.
    static func decide(status: String?, message: String) -> Self {
        guard let status, !isGood(status) else { return .good }
        let message = message.lowercased()
        func says(_ words: [String]) -> Bool { words.contains { message.contains($0) } }
        if JSONNumber.integer(parsing: status) == 114 || says(["频繁", "too frequent"]) { return .tooFrequent }
        if says(["token", "登录", "登陆", "过期", "未授权", "log in", "login", "expired", "unauthorized", "credential"]) {
            return .credentialsRejected
        }
        if says(["不存在", "下架", "not found", "no such", "unknown book", "does not exist"]) { return .unknownBook }
        return .refused
    }

    static func isGood(_ status: String) -> Bool {
        let word = status.lowercased()
        return JSONNumber.integer(parsing: word) == 0 || ["", "success", "ok"].contains(word)
    }
}
