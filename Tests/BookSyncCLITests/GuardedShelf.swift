import BookSync
import Foundation
import Support
import Testing

/// A served shelf that asks who comes.
extension ServedShelf {
    static let password = "pässword 听书"
    /// Of that password, made by another program's scrypt.
    static let hash = "$scrypt$ln=14,r=8,p=1$AAECAwQFBgcICQoLDA0ODw$VHzhE7OZdarCK+nC1xZn4pInQIqKXBZqxTtopsO0wGE"
    static let token = "0123456789abcdef-TOKEN"
    /// What tells this browser apart from others before it has logged in.
    static let visit = "Cookie: booksync-visit=AAAAAAAAAAAAAAAAAAAAAA"

    static func form(_ fields: [(String, String)]) -> String {
        let plain = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\0"..."\u{7F}"))
        func escaped(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: plain) ?? "" }
        return fields.map { escaped($0.0) + "=" + escaped($0.1) }.joined(separator: "&")
    }

    func post(
        _ path: String, form fields: [(String, String)], _ more: [String] = [], from client: UInt8 = 0
    ) async throws -> Answer {
        let body = Self.form(fields)
        let own =
            [
                "Content-Type: application/x-www-form-urlencoded", "Content-Length: \(body.utf8.count)",
            ] + (more.contains { $0.hasPrefix("Cookie:") } ? [] : [Self.visit])
        return try await send(path, method: "POST", own + more, body: body, from: client)
    }

    /// What the pages' forms carry for this browser.
    func formToken(_ cookie: String? = nil, on path: String = "/login") async throws -> String {
        let page = try await send(path, [cookie.map { "Cookie: \($0)" } ?? Self.visit])
        return try #require(page.text.firstMatch(of: /name="token" value="([^"]+)"/)).output.1.description
    }

    /// - Returns: the fields to send as Cookie, or nil where the password was not taken.
    func logIn(
        _ password: String = password, as name: String? = nil, to path: String = "/queue", cookie: String? = nil,
        from client: UInt8 = 0
    ) async throws -> (answer: Answer, cookie: String?) {
        let token = try await formToken()
        let fields =
            [("password", password), ("token", token), ("return", path)] + (name.map { [("name", $0)] } ?? [])
        // Who has a session has another token; where the form was made is proof as well.
        let own = cookie.map { ["Cookie: \($0)", "Origin: \(address)"] } ?? []
        let answer = try await post("/actions/login", form: fields, own, from: client)
        let cookies = answer.fields["set-cookie"]?.matches(of: /(booksync-[A-Za-z0-9_-]+=[^;]+);/).map(\.output.1)
        return (answer, cookies.map { $0.joined(separator: "; ") })
    }

    /// The status of a document, for whoever sends the cookie.
    func status(_ cookie: String?, _ path: String = "/api/v1/books") async throws -> Int {
        try await send(path, cookie.map { ["Cookie: \($0)"] } ?? []).status
    }
}

extension Workbench {
    /// Serves the short book of the demo catalog to those who have the password or the token.
    func serveGuarded<Result>(
        settings: String = "", isolation: isolated (any Actor)? = #isolation,
        _ body: (ServedShelf) async throws -> Result
    ) async throws -> Result {
        if !exists {
            let fetched = try await run("fetch", "40111", "-q")
            try #require(fetched.exitCode == 0, "\(fetched.errors)")
        }
        try configure("serve:\n  password: \(ServedShelf.hash)\n  token: \(ServedShelf.token)\n\(settings)")
        return try await serve("--config", "booksync.yaml", isolation: isolation, body)
    }

    /// The text of the file that nobody is to see.
    var serveKeys: String {
        get throws { try String(contentsOf: library.appending(path: ".booksync/serve-keys"), encoding: .utf8) }
    }

    /// By which podcast apps come.
    var appsKey: String {
        get throws { try #require(try serveKeys.firstMatch(of: /"apps":"([^"]+)"/)).output.1.description }
    }
}

extension RunningProduct {
    /// Bytes of memory that it ever held; nil where the system does not tell.
    var maxMemory: Int? {
        get throws {
            let path = "/proc/\(processIdentifier)/status"
            guard FileManager.default.fileExists(atPath: path) else { return nil }
            let status = try String(contentsOfFile: path, encoding: .utf8)
            return status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
                .flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 }
        }
    }
}
