import BookSync
import Foundation
import Support
import Testing

extension ForeignProgramTests {
    /// HTTPS and gzip, as curl and openssl have them.
    @Suite(
        .needs("curl", "openssl"))
    struct SecureShelf {
        /// What openssl says of the certificate that a port shows.
        private static func fingerprint(_ bench: Workbench, _ port: Int) async throws -> String {
            let shown = try await bench.shell(
                "openssl s_client -connect 127.0.0.1:\(port) </dev/null 2>/dev/null | "
                    + "openssl x509 -noout -fingerprint -sha256")
            return shown.output.split(separator: "=").last.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
                ?? ""
        }

        private static let makeCertificate =
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=nas "
            + "-addext subjectAltName=IP:127.0.0.1 -keyout key.pem.new -out cert.pem.new 2>/dev/null "
            + "&& mv key.pem.new key.pem && mv cert.pem.new cert.pem"

        @Test func `a renewed certificate counts without a restart, and a broken one does not`() async throws {
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", "40111/1", "-q").exitCode == 0)
                #expect(try await bench.shell(Self.makeCertificate).exitCode == 0)
                try bench.configure("serve: { tls: { certificate: cert.pem, key: key.pem } }\n")
                try await bench.serve(environment: bench.configured) { shelf in
                    let first = try await Self.fingerprint(bench, shelf.port)
                    #expect(first.count == 95)
                    let whole = try Data(contentsOf: bench.folder.appending(path: "cert.pem"))
                    try Data("nothing".utf8).write(to: bench.folder.appending(path: "cert.pem"))
                    try await shelf.product.waitForErrors(containing: "the certificate is not read again")
                    #expect(try await Self.fingerprint(bench, shelf.port) == first)
                    try whole.write(to: bench.folder.appending(path: "cert.pem"))
                    #expect(try await bench.shell(Self.makeCertificate).exitCode == 0)
                    try await waitUntil("the new certificate is shown") {
                        let now = try await Self.fingerprint(bench, shelf.port)
                        return now.count == 95 && now != first
                    }
                    let trusting = "curl -sS --cacert cert.pem"
                    let served = try await bench.shell("\(trusting) \(shelf.address)/api/v1/books")
                    #expect(served.output.contains("40111"), "\(served.errors)")
                    let feed = try await bench.shell("\(trusting) \(shelf.address)/feeds/demo/40111.xml")
                    #expect(feed.output.contains("\"\(shelf.address)/media/demo/40111/"), "\(feed.errors)")
                    let plain = shelf.address.replacing("https", with: "http")
                    #expect(try await bench.shell("curl -sS \(plain)/").exitCode != 0)
                    #expect(try await bench.shell("\(trusting) --tls-max 1.1 \(shelf.address)/").exitCode != 0)
                    // It goes on for the others.
                    #expect(try await bench.shell("\(trusting) \(shelf.address)/").exitCode == 0)
                }
                for (text, sentence) in [
                    ("certificate: nowhere.pem, key: key.pem", "are no certificate with its key"),
                    ("certificate: key.pem, key: cert.pem", "are no certificate with its key"),
                    ("certificate: cert.pem", "only one of serve.tls.certificate and serve.tls.key is set"),
                    ("certificates: cert.pem", "did you mean 'certificate'"),
                ] {
                    try bench.configure("serve: { tls: { \(text) } }\n")
                    let wrong = try await bench.run(
                        "serve", "--listen", "127.0.0.1:0", environment: bench.configured)
                    #expect(wrong.exitCode == 78 && wrong.errors.contains(sentence), "\(wrong.errors)")
                }
            }
        }

        @Test func `over HTTPS the cookie is for HTTPS alone`() async throws {
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", "40111/1", "-q").exitCode == 0)
                #expect(try await bench.shell(Self.makeCertificate).exitCode == 0)
                try bench.configure(
                    "serve: { password: \"\(ServedShelf.hash)\", tls: { certificate: cert.pem, key: key.pem } }\n")
                try await bench.serve(environment: bench.configured) { shelf in
                    let trusting = "curl -sS --cacert cert.pem"
                    let page = try await bench.shell("\(trusting) \(shelf.address)/login")
                    let token = try #require(page.output.firstMatch(of: /name="token" value="([^"]+)"/)?.output.1)
                    let login = try await bench.shell(
                        "\(trusting) -D - -o /dev/null --data-urlencode 'password=\(ServedShelf.password)' "
                            + "-d 'token=\(token)' -H 'Origin: \(shelf.address)' \(shelf.address)/actions/login")
                    #expect(
                        login.output.contains("__Host-booksync-") && login.output.contains("; Secure"),
                        "\(login.output)")
                }
            }
        }

        @Test func `texts are compressed for those who take it, and are the same`() async throws {
            try await withWorkbench { bench in
                try await bench.serveShortBook { shelf in
                    for path in [
                        "/", "/books/demo/40111", "/api/v1/books/demo/40111/episodes", "/feeds/demo/40111.xml",
                    ] {
                        let target = "\(shelf.address)\(path)' -H '\(ServedShelf.visit)"
                        let size = "-o /dev/null -w '%{size_download}'"
                        let plain = try await bench.shell("curl -sS \(size) '\(target)'")
                        let small = try await bench.shell("curl -sS --compressed \(size) '\(target)'")
                        let (whole, less) = (Int(plain.output) ?? 0, Int(small.output) ?? 0)
                        #expect(less > 0 && less * 2 < whole, "\(path): \(less) of \(whole)")
                        let same = try await bench.shell(
                            "[ \"$(curl -sS '\(target)' | sha256sum)\" = \"$(curl -sS --compressed '\(target)' | sha256sum)\" ]"
                        )
                        #expect(same.exitCode == 0, "\(path)")
                        // Each form has a tag of its own, by which it is known again.
                        let gzip = ["Accept-Encoding: gzip", ServedShelf.visit]
                        let (one, other) = (
                            try await shelf.send(path, [ServedShelf.visit]), try await shelf.send(path, gzip)
                        )
                        let tag = try #require(other.fields["etag"])
                        #expect(one.fields["etag"] != tag && other.fields["content-encoding"] == "gzip")
                        #expect(other.fields["vary"]?.contains("Accept-Encoding") == true)
                        #expect(try await shelf.send(path, gzip + ["If-None-Match: \(tag)"]).status == 304)
                        let head = try await shelf.send(path, method: "HEAD", gzip)
                        #expect(head.fields["content-length"] == other.fields["content-length"])
                    }
                    // What is small, compressed already, reflects its address, or is not asked for so.
                    let audio = try await bench.shell("ls L/*/*/*.mp3 | head -1")
                    #expect(audio.exitCode == 0)
                    for (path, coding) in [
                        ("/api/v1/positions/demo/40111/5000000001", "gzip"), ("/search?q=aaaaaaaaaaaaaaaaaaaa", "gzip"),
                        ("/", "identity"), ("/", "gzip;q=0"), ("/", "br"), ("/media/demo/40111/5000000001.mp3", "gzip"),
                    ] {
                        let answer = try await shelf.send(path, ["Accept-Encoding: \(coding)"])
                        #expect(answer.status == 200 && answer.fields["content-encoding"] == nil, "\(path) \(coding)")
                    }
                }
            }
        }
    }
}
