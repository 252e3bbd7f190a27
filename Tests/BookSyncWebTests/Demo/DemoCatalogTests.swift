import BookModel
import Foundation
import Support
import Testing

@testable import BookSyncWeb

/// The demo catalog over real HTTP.
@Suite struct DemoCatalogTests {
    private func send(
        _ url: String, method: String = "GET", _ fields: [(String, String)] = []
    ) async throws -> RawAnswer {
        try await rawExchange(method, url, fields)
    }

    private func listing(
        _ address: ListenAddress, _ query: String = "bookId=30776&pageNum=1&pageSize=50&sortType=0"
    ) async throws -> RawAnswer {
        try await send(DemoCatalog.catalogURL(at: address) + "?" + query)
    }

    private func list(_ answer: RawAnswer) throws -> [[String: Any]] {
        try #require(try answer.json["list"] as? [[String: Any]])
    }

    @Test func `the book has 112 episodes on three pages of at most 50`() async throws {
        try await withDemoCatalog { address in
            var sections: [Int] = []
            var locked: [Int] = []
            var ids: Set<Int> = []
            for page in 1...4 {
                let answer = try await listing(address, "bookId=30776&pageNum=\(page)&pageSize=5000&sortType=0")
                #expect(answer.status == 200)
                #expect(try answer.json["sections"] as? Int == 112)
                #expect(try answer.json["status"] as? Int == 0)
                let list = try list(answer)
                #expect(list.count == [50, 50, 12, 0][page - 1])
                for element in list {
                    let section = try #require(element["section"] as? Int)
                    sections.append(section)
                    ids.insert(try #require(element["id"] as? Int))
                    let path = element["path"] as? String
                    if path == nil || path == "" { locked.append(section) }
                }
            }
            #expect(sections == Array(1...112))
            #expect(locked == [57, 112])
            #expect(ids.count == 112)
        }
    }

    @Test func `an answer looks as the real servers' do`() async throws {
        try await withDemoCatalog { address in
            let answer = try await listing(address)
            #expect(answer.first("Content-Type") == "application/json;charset=UTF-8")
            #expect(answer.text.contains("\"path\":\"http:\\/\\/127.0.0.1:\(address.port)\\/audio\\/30776\\/001.mp3\""))
            #expect(answer.text.contains("\"name\":\"第001集_回到古代当兽医\""))
            #expect(answer.text.contains("\"id\":301500958,"))
            #expect(answer.text.contains("\"msg\":null"))
            let second = try await listing(address, "bookId=30776&pageNum=2&pageSize=50&sortType=0")
            #expect(second.text.contains("\"path\":null"))
            let third = try await listing(address, "bookId=30776&pageNum=3&pageSize=50&sortType=0")
            #expect(third.text.contains("\"path\":\"\""))
            let short = try await listing(address, "bookId=40111&pageNum=1&pageSize=50&sortType=0")
            #expect(try list(short).count == 6)
            #expect(try list(short).first?["id"] as? Int == 5_000_000_001)
        }
    }

    @Test(
        arguments: [
            ("bookId=999&pageNum=1", 3), ("pageNum=1", 4), ("bookId=x", 4),
            ("bookId=30776&pageNum=9223372036854775807", 0),
            ("bookId=30776&pageNum=-1&pageSize=-1", 0),
        ])
    func `odd questions are answered with a status, and HTTP 200`(query: String, status: Int) async throws {
        try await withDemoCatalog { address in
            let answer = try await listing(address, query)
            #expect(answer.status == 200)
            #expect(try answer.json["status"] as? Int == status)
            if status == 3 {
                #expect(try answer.json["msg"] as? String == "书籍不存在")
                #expect(try answer.json["sections"] as? Int == 0)
                #expect(try list(answer).isEmpty)
            }
        }
    }

    @Test func `the detail names the book`() async throws {
        try await withDemoCatalog { address in
            let answer = try await send(DemoCatalog.detailURL(at: address) + "?id=30776").json
            #expect(answer["name"] as? String == "回到古代当兽医")
            for key in ["author", "announcer", "desc"] { #expect((answer[key] as? String)?.isEmpty == false) }
            let unknown = try await send(DemoCatalog.detailURL(at: address) + "?id=1").json
            #expect(unknown["status"] as? Int == 3)
        }
    }

    @Test func `what is listed is what is served, save for one stale size`() async throws {
        try await withDemoCatalog { address in
            var stale: [Int] = []
            for page in 1...3 {
                for element in try list(try await listing(address, "bookId=30776&pageNum=\(page)")) {
                    guard let path = element["path"] as? String, !path.isEmpty else { continue }
                    let section = try #require(element["section"] as? Int)
                    let answer = try await send(path)
                    #expect(answer.status == 200)
                    #expect(answer.body == DemoAudio(book: DemoBook.all[0], section: section).bytes)
                    #expect(answer.first("Content-Length") == String(answer.body.count))
                    if element["size"] as? Int != answer.body.count { stale.append(section) }
                    let seconds = try #require(element["length"] as? Int)
                    #expect(abs(answer.body.count / 4000 - seconds) <= 1)
                }
            }
            #expect(stale == [24])
        }
    }

    @Test func `audio honours ranges, conditions and HEAD`() async throws {
        try await withDemoCatalog { address in
            let url = address.url + "/audio/30776/001.mp3"
            let whole = try await send(url)
            let count = whole.body.count
            #expect(whole.first("Content-Type") == "audio/mpeg")
            #expect(whole.first("Accept-Ranges") == "bytes")
            #expect(whole.first("Last-Modified") == "Wed, 01 May 2024 00:00:00 GMT")
            #expect(whole.first("Date") != nil)
            let tag = try #require(whole.first("ETag"))
            let part = try await send(url, [("Range", "bytes=1000-1999"), ("If-Range", tag)])
            #expect(part.status == 206)
            #expect(part.first("Content-Range") == "bytes 1000-1999/\(count)")
            #expect(part.first("ETag") == tag)
            #expect(part.body == Array(whole.body[1000..<2000]))
            let changed = try await send(url, [("Range", "bytes=1000-1999"), ("If-Range", "\"other\"")])
            #expect(changed.status == 200 && changed.body == whole.body)
            let beyond = try await send(url, [("Range", "bytes=\(count)-")])
            #expect(beyond.status == 416 && beyond.first("Content-Range") == "bytes */\(count)")
            let known = try await send(url, [("If-None-Match", tag)])
            #expect(known.status == 304 && known.body.isEmpty && known.first("ETag") == tag)
            let head = try await send(url, method: "HEAD")
            #expect(head.status == 200 && head.body.isEmpty)
            #expect(head.first("Content-Length") == String(count))
        }
    }

    @Test(arguments: [
        "/", "/audio/30776/057.mp3", "/audio/30776/1.mp3", "/audio/30776/113.mp3", "/audio/../etc/passwd",
    ])
    func `what is not there is 404`(path: String) async throws {
        try await withDemoCatalog { address in
            let answer = try await send(address.url + path)
            #expect(answer.status == 404)
            #expect(try answer.json["status"] as? Int == 404)
            let put = try await send(address.url + path, method: "PUT")
            #expect(put.status == 405)
        }
    }

    @Test func `a paced connection gives what its pace allows`() async throws {
        try await withDemoCatalog(pace: 100_000) { address in
            let request = "GET /audio/40111/001.mp3 HTTP/1.1\r\nHost: \(address)\r\n\r\n"
            let answer = try await rawExchange(port: address.port, sending: request, bodyBytes: 30_000)
            #expect(answer.duration >= .milliseconds(200))
            // Whoever comes late to read finds more.
            #expect(Double(answer.body.count) <= 100_000 * (answer.duration / .seconds(1)) + 2 * 4096)
        }
    }

    @Test func `the server ends with its body, also in the middle of an answer`() async throws {
        let (address, answer) = try await withDemoCatalog(pace: 4096) { address in
            let port = address.port
            let idle = Task { try await rawExchange(port: port, sending: "") }
            let slow = "GET /audio/40111/001.mp3 HTTP/1.1\r\nHost: \(address)\r\n\r\n"
            _ = try await rawExchange(port: port, sending: slow, bodyBytes: 1)
            let running = Task { try await rawExchange(port: port, sending: slow) }
            _ = try await rawExchange(port: port, sending: slow, bodyBytes: 4097)
            idle.cancel()
            return (address, running)
        }
        #expect(try await answer.value.body.count < 100_000)
        // A child that another test is just starting may have the listener for a moment.
        try await waitUntil("the port refuses") {
            (try? await rawExchange(port: address.port, sending: "")) == nil
        }
    }

    @Test func `an address in use is refused with a sentence`() async throws {
        try await withDemoCatalog { address in
            let failure = await #expect(throws: Failure.self) {
                try await withDemoCatalog(listen: address) { _ in }
            }
            #expect(failure?.kind == .inputOutput)
            #expect(failure?.description.contains("127.0.0.1:\(address.port): Address already in use") == true)
        }
    }

    @Test func `the body's error comes through`() async throws {
        await #expect(throws: CancellationError.self) {
            try await withDemoCatalog { _ in throw CancellationError() }
        }
    }

    @Test(arguments: [("127.0.0.1:8731", "127.0.0.1", 8731), ("[::1]:80", "::1", 80), ("0", "127.0.0.1", 0)])
    func `a listening address is read`(text: String, host: String, port: Int) throws {
        let address = try ListenAddress(parsing: text)
        #expect(address == ListenAddress(host: host, port: port))
        #expect(try ListenAddress(parsing: address.description) == address)
    }

    @Test(arguments: ["", ":80", "::1:80", "localhost:", "localhost:99999", "localhost:-1", "a:b"])
    func `what is no listening address is refused`(text: String) {
        #expect(throws: Failure.self) { try ListenAddress(parsing: text) }
    }
}

extension RawAnswer {
    fileprivate var json: [String: Any] {
        get throws { try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]) }
    }
    fileprivate var text: String { String(decoding: body, as: UTF8.self) }
}
