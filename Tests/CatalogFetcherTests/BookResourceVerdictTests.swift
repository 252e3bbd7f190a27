import Testing

@testable import CatalogFetcher

@Suite struct BookResourceVerdictTests {
    @Test(
        arguments: [
            (nil, "", .good), ("0", "", .good), ("0.0", "anything", .good), ("success", "", .good), ("OK", "", .good),
            ("", "", .good),
            ("114", "", .tooFrequent), ("114.0", "下载过于频繁，请稍后再试", .tooFrequent), ("7", "操作频繁", .tooFrequent),
            ("1", "非法token", .credentialsRejected), ("1", "Token is invalid", .credentialsRejected),
            ("1", "请先登录", .credentialsRejected), ("2", "用户未登录", .credentialsRejected),
            ("3", "登录已过期", .credentialsRejected), ("1", "token不存在", .credentialsRejected),
            ("9", "书籍不存在", .unknownBook), ("9", "该书已下架", .unknownBook), ("404", "Book not found", .unknownBook),
            ("4", "非法请求", .refused), ("1", "", .refused), ("fail", "系统繁忙", .refused), ("-1", "error", .refused),
        ] as [(String?, String, BookResourceVerdict)])
    func `status and message say what is wrong`(status: String?, message: String, verdict: BookResourceVerdict) {
        #expect(BookResourceVerdict.decide(status: status, message: message) == verdict)
    }

    @Test(
        arguments: [
            (#"{"status":0,"apiStatus":114}"#, .tooFrequent), (#"{"status":"4","apiStatus":0}"#, .refused),
            (#"{"status":null}"#, .good), (#"{"apiStatus":0}"#, .good), (#"{"list":[]}"#, .good),
            (#"{"data":{"status":4,"msg":"非法请求"}}"#, .refused),
        ] as [(String, BookResourceVerdict)])
    func `either status of an answer may tell`(json: String, verdict: BookResourceVerdict) throws {
        #expect(BookResourceAnswer(try JSONReader.read(Array(json.utf8))).verdict == verdict)
    }
}
