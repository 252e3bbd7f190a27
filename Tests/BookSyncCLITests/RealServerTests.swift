import Foundation
import Support
import Testing

extension ForeignClientTests {
    /// Folders behind the web servers that people have, judged by `sha256sum`.
    @Suite struct RealServers {
        enum Server: String, CaseIterable, Sendable {
            case nginx
            case apache = "apache2"
            case lighttpd, caddy, rclone
            case webfs = "webfsd"
            case python = "python3"

            static let installed = allCases.filter { ForeignProgram.isInstalled($0.rawValue) }

            /// Whether it gives a file from any byte on.
            var hasRanges: Bool { self != .python }

            /// - Parameters:
            ///   - root: what it serves.
            ///   - folder: its own.
            func arguments(port: Int, root: String, folder: String) throws -> [String] {
                func configuration(_ text: String) throws -> String {
                    let path = "\(folder)/\(rawValue).conf"
                    try Data(text.utf8).write(to: URL(filePath: path))
                    return path
                }
                switch self {
                case .nginx:
                    let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                        .map { "\($0)_temp_path \(folder)/\($0);" }.joined(separator: " ")
                    let text = """
                        daemon off; pid \(folder)/pid; error_log \(folder)/errors; events {}
                        http { access_log off; types { audio/mpeg mp3; text/html html; } \(places)
                          server { listen 127.0.0.1:\(port); root "\(root)"; autoindex on; } }
                        """
                    return ["-c", try configuration((getuid() == 0 ? "user root; " : "") + text)]
                case .apache:
                    let modules = ["mpm_event", "authz_core", "autoindex", "mime", "dir"]
                        .map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }
                    let text = """
                        ServerRoot \(folder)
                        ServerName localhost
                        PidFile \(folder)/pid
                        ErrorLog \(folder)/errors
                        Listen 127.0.0.1:\(port)
                        \(modules.joined(separator: "\n"))
                        TypesConfig /dev/null
                        AddType audio/mpeg .mp3
                        DocumentRoot "\(root)"
                        IndexOptions FancyIndexing NameWidth=30 Charset=UTF-8
                        <Directory "\(root)">
                        Options +Indexes
                        Require all granted
                        </Directory>

                        """
                    return ["-X", "-f", try configuration(text)]
                case .lighttpd:
                    let text = """
                        server.document-root = "\(root)"
                        server.bind = "127.0.0.1"
                        server.port = \(port)
                        server.modules = ("mod_dirlisting")
                        dir-listing.activate = "enable"
                        mimetype.assign = (".mp3" => "audio/mpeg")

                        """
                    return ["-D", "-f", try configuration(text)]
                case .caddy: return ["file-server", "--browse", "--root", root, "--listen", "127.0.0.1:\(port)"]
                case .rclone: return ["serve", "http", root, "--addr", "127.0.0.1:\(port)", "--dir-cache-time", "0s"]
                case .webfs:
                    let types = try configuration("audio/mpeg mp3\n")
                    return ["-F", "-4", "-i", "127.0.0.1", "-p", "\(port)", "-r", root, "-m", types]
                case .python: return ["-m", "http.server", "-d", root, "--bind", "127.0.0.1", "\(port)"]
                }
            }

            /// What the files are called.
            var names: [String] {
                let odd = [
                    "plain", "with space", "100% sure", "a#b", "what?", "a&b", "it's", "\"quoted\"", "第九集_夜航",
                    "[brackets] (x)", "a+b", "a;b,c", "~tilde", "é ü ñ", "🎧", "a=b@c$", "back`tick^{x}|y", "<lt> %20",
                    String(repeating: "long ", count: 30), "-dash", "a:b",
                ]
                // webfs writes the ampersand of a name as it is, and no reader can tell this one from "&".
                return odd + (self == .webfs ? [] : ["&amp; %2F"])
            }
        }

        /// Serves the folder while the body runs.
        private static func serve<Answer>(
            _ folder: URL, by server: Server, in bench: Workbench, isolation: isolated (any Actor)? = #isolation,
            _ body: (_ address: String) async throws -> Answer
        ) async throws -> Answer {
            let port = try await withRefusingPort { $0 }
            let own = bench.folder.appending(path: "server")
            try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
            let arguments = try server.arguments(port: port, root: folder.path, folder: own.path)
            let environment = ["HOME": own.path, "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"]
            return try await withProduct(
                arguments, environment: environment, in: own, executable: ForeignProgram.path(server.rawValue)
            ) { _ in
                try await waitUntil("\(server) listens") { (try? Socket.connected(port: port))?.close() != nil }
                return try await body("http://127.0.0.1:\(port)")
            }
        }

        /// A file of an hour ago: of one that was just written no server promises that it stays as it is.
        private static func write(_ bytes: [UInt8], to file: URL) throws {
            try Data(bytes).write(to: file)
            try setOld(file)
        }

        private static func setOld(_ file: URL) throws {
            let hourAgo = Date(timeIntervalSinceNow: -3600)
            try FileManager.default.setAttributes([.modificationDate: hourAgo], ofItemAtPath: file.path)
        }

        /// The digests of all audio in a folder, by another program.
        private static func digests(of folder: URL, in bench: Workbench) async throws -> [String] {
            let command =
                "find \"$0\" -name .booksync -prune -o -name '*.mp3' -exec sha256sum {} + | cut -c1-65 | tr -d '\\\\'"
            let result = try await withProduct(
                ["-c", command, folder.path], in: bench.folder, executable: URL(filePath: "/bin/sh")
            ) { try await $0.result() }
            return result.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces).prefix(64) }
                .map(String.init).sorted()
        }

        @Test(.enabled(if: !Server.installed.isEmpty, "no web server is installed"), arguments: Server.installed)
        func `a folder is kept byte for byte, asked for once, and gone on with after a kill`(_ server: Server)
            async throws
        {
            try await withWorkbench { bench in
                let (root, files) = (bench.folder.appending(path: "www"), FileManager.default)
                let book = root.appending(path: "a book & more")
                try files.createDirectory(at: book, withIntermediateDirectories: true)
                for (place, name) in server.names.enumerated() {
                    let bytes = sampleMP3(bytes: 9_000 + place, seed: UInt64(place))
                    try Self.write(bytes, to: book.appending(path: String(format: "%03d ", place + 1) + name + ".mp3"))
                }
                // webfs reads a folder again when its time is another one.
                try Self.setOld(book)
                try await Self.serve(root, by: server, in: bench) { address in
                    let url = address + "/a%20book%20&%20more/"
                    let first = try await bench.run("fetch", url, "--json")
                    #expect(first.exitCode == 0, "\(first.errors)")
                    #expect(first.output.contains("\"fetched\":\(server.names.count),"), "\(first.output.suffix(600))")
                    let kept = try await Self.digests(of: bench.library, in: bench)
                    #expect(try await kept == Self.digests(of: root, in: bench) && kept.count == server.names.count)
                    let second = try await bench.run("fetch", url, "--json")
                    #expect(second.exitCode == 0 && second.output.contains("\"kept\":\(server.names.count),"))

                    let large = sampleMP3(bytes: 4_000_000, seed: 99)
                    try Self.write(large, to: book.appending(path: "099 large.mp3"))
                    try await bench.start("fetch", url, "--limit-rate", "1M") { run in
                        try await waitUntil("a part is there") { try bench.partialSizes.reduce(0, +) > 600_000 }
                        run.send(signal: SIGKILL)
                        _ = try await run.result()
                    }
                    let last = try await bench.run("fetch", url, "--json")
                    #expect(last.exitCode == 0, "\(last.errors)")
                    #expect(
                        last.output.contains(server.hasRanges ? "\"resumed\":1," : "\"fetched\":1,"),
                        "\(last.output.suffix(600))")
                    #expect(
                        try await Self.digests(of: bench.library, in: bench) == Self.digests(of: root, in: bench))
                }
            }
        }
    }
}
