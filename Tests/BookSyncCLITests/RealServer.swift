import Foundation
import Support
import Testing

/// A web server that people have.
enum RealServer: String, CaseIterable, Sendable {
    case nginx
    case apache = "apache2"
    case lighttpd, caddy, rclone
    case webfs = "webfsd"
    case python = "python3"
    case busybox

    static let installed = allCases.filter { ForeignProgram.path($0.rawValue) != nil }

    /// How it is asked.
    enum Way: String, CaseIterable, Sendable {
        case open
        /// With a user and a password, and over HTTPS where the server has it.
        case guarded
    }

    /// Whether it gives a file from any byte on.
    var hasRanges: Bool { self != .python }
    /// Whether it lists folders.
    var hasIndex: Bool { self != .busybox }
    /// Whether its lists say to the byte or to the minute how large files are and of when.
    var listsFacts: Bool { ![.busybox, .python, .webfs].contains(self) }
    var canGuard: Bool { self != .python }

    private var hasHTTPS: Bool {
        switch self {
        case .nginx, .apache, .caddy, .rclone: true
        case .lighttpd: FileManager.default.fileExists(atPath: "/usr/lib/lighttpd/mod_openssl.so")
        case .webfs, .python, .busybox: false
        }
    }

    static let (user, password) = ("lin", "pass%word+1")

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

    /// Serves the folder while the body runs.
    /// - Parameter own: a folder for what the server keeps; a guarded one's certificate is `cert.pem` in it.
    func serve<Answer>(
        _ root: URL, _ way: Way = .open, in own: URL, isolation: isolated (any Actor)? = #isolation,
        _ body: (_ address: String) async throws -> Answer
    ) async throws -> Answer {
        let port = try await withRefusingPort { $0 }
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        let isSecure = way == .guarded && hasHTTPS
        let environment = ["HOME": own.path, "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"]
        if way == .guarded {
            let script = """
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=nas \
                -addext subjectAltName=IP:127.0.0.1 -out cert.pem -keyout key.pem 2>&1 &&
                printf '%s:%s\\n' "$1" "$(openssl passwd -apr1 "$2")" >hashed && printf '%s:%s\\n' "$1" "$2" >plain &&
                if command -v caddy >/dev/null; then caddy hash-password --plaintext "$2" >bcrypt; fi
                """
            let made = try await withProduct(
                ["-c", script, "sh", Self.user, Self.password], environment: environment, in: own,
                executable: URL(filePath: "/bin/sh")
            ) { try await $0.result() }
            try #require(made.exitCode == 0, "\(made.output)")
        }
        let arguments = try arguments(port: port, root: root.path, own: own.path, way, isSecure: isSecure)
        return try await withProduct(
            arguments, environment: environment, in: own, executable: ForeignProgram.path(rawValue)
        ) { running in
            try await running.waitUntilListening(on: port)
            return try await body("\(isSecure ? "https" : "http")://127.0.0.1:\(port)")
        }
    }

    private func arguments(port: Int, root: String, own: String, _ way: Way, isSecure: Bool) throws -> [String] {
        func configuration(_ text: String) throws -> String {
            let path = "\(own)/\(rawValue).conf"
            try Data((text + "\n").utf8).write(to: URL(filePath: path))
            return path
        }
        let isGuarded = way == .guarded
        switch self {
        case .nginx:
            let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                .map { "\($0)_temp_path \(own)/\($0);" }.joined(separator: " ")
            let tls = "ssl_certificate \(own)/cert.pem; ssl_certificate_key \(own)/key.pem;"
            let text = """
                daemon off; master_process off; pid \(own)/pid; error_log \(own)/errors; events {}
                http { access_log off; types { audio/mpeg mp3; text/html html; text/xml xml; } \(places)
                  server { listen 127.0.0.1:\(port)\(isSecure ? " ssl http2" : ""); \(isSecure ? tls : "")
                    \(isGuarded ? "auth_basic x; auth_basic_user_file \(own)/hashed;" : "")
                    root "\(root)"; autoindex on; } }
                """
            return ["-c", try configuration((getuid() == 0 ? "user root; " : "") + text)]
        case .apache:
            let names =
                ["mpm_event", "authz_core", "autoindex", "mime", "dir"]
                + (isGuarded ? ["auth_basic", "authn_core", "authn_file", "authz_user"] : [])
                + (isSecure ? ["ssl", "http2"] : [])
            let modules = names.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }
            let tls = """
                Protocols h2 http/1.1
                SSLEngine on
                SSLCertificateFile \(own)/cert.pem
                SSLCertificateKeyFile \(own)/key.pem
                """
            let guardian = "AuthType Basic\nAuthName x\nAuthUserFile \(own)/hashed\nRequire valid-user"
            return [
                "-X", "-f",
                try configuration(
                    """
                    ServerRoot \(own)
                    ServerName localhost
                    PidFile \(own)/pid
                    ErrorLog \(own)/errors
                    Listen 127.0.0.1:\(port)
                    \(modules.joined(separator: "\n"))
                    \(isSecure ? tls : "")
                    TypesConfig /dev/null
                    AddType audio/mpeg .mp3
                    AddType text/xml .xml
                    DocumentRoot "\(root)"
                    IndexOptions FancyIndexing NameWidth=30 Charset=UTF-8
                    <Directory "\(root)">
                    Options +Indexes
                    \(isGuarded ? guardian : "Require all granted")
                    </Directory>
                    """),
            ]
        case .lighttpd:
            let modules =
                ["mod_dirlisting"] + (isGuarded ? ["mod_auth", "mod_authn_file"] : [])
                + (isSecure ? ["mod_openssl"] : [])
            let guardian = """
                auth.backend = "plain"
                auth.backend.plain.userfile = "\(own)/plain"
                auth.require = ("/" => ("method" => "basic", "realm" => "x", "require" => "valid-user"))
                """
            let tls = """
                ssl.engine = "enable"
                ssl.pemfile = "\(own)/cert.pem"
                ssl.privkey = "\(own)/key.pem"
                """
            return [
                "-D", "-f",
                try configuration(
                    """
                    server.document-root = "\(root)"
                    server.bind = "127.0.0.1"
                    server.port = \(port)
                    server.modules = (\(modules.map { "\"\($0)\"" }.joined(separator: ", ")))
                    dir-listing.activate = "enable"
                    server.stat-cache-engine = "disable"
                    mimetype.assign = (".mp3" => "audio/mpeg", ".xml" => "text/xml")
                    \(isGuarded ? guardian : "")
                    \(isSecure ? tls : "")
                    """),
            ]
        case .caddy:
            guard isGuarded else {
                return ["file-server", "--browse", "--root", root, "--listen", "127.0.0.1:\(port)"]
            }
            let hash = try String(contentsOfFile: "\(own)/bcrypt", encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            let text = """
                {
                  admin off
                  auto_https disable_redirects
                }
                https://127.0.0.1:\(port) {
                  tls \(own)/cert.pem \(own)/key.pem
                  basicauth {
                    \(Self.user) \(hash)
                  }
                  root * "\(root)"
                  file_server browse
                }
                """
            return ["run", "--adapter", "caddyfile", "--config", try configuration(text)]
        case .rclone:
            let guardian = ["--user", Self.user, "--pass", Self.password, "--cert", "cert.pem", "--key", "key.pem"]
            return ["serve", "http", root, "--addr", "127.0.0.1:\(port)", "--dir-cache-time", "0s"]
                + (isGuarded ? guardian : [])
        case .webfs:
            let types = try configuration("audio/mpeg mp3\ntext/xml xml")
            return ["-F", "-4", "-i", "127.0.0.1", "-p", "\(port)", "-r", root, "-m", types]
                + (isGuarded ? ["-b", "\(Self.user):\(Self.password)"] : [])
        case .python: return ["-m", "http.server", "-d", root, "--bind", "127.0.0.1", "\(port)"]
        case .busybox:
            let rules = try configuration(isGuarded ? "/:\(Self.user):\(Self.password)" : "")
            return ["httpd", "-f", "-p", "127.0.0.1:\(port)", "-h", root, "-c", rules]
        }
    }
}

/// A proxy that people have.
enum RealProxy: String, CaseIterable, Sendable {
    case squid, tinyproxy

    static let installed = allCases.filter { ForeignProgram.path($0.rawValue) != nil }

    /// Runs it while the body runs.
    func run<Answer>(
        in own: URL, isolation: isolated (any Actor)? = #isolation,
        _ body: (_ address: String) async throws -> Answer
    ) async throws -> Answer {
        let port = try await withRefusingPort { $0 }
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        let text =
            switch self {
            case .squid:
                """
                http_port 127.0.0.1:\(port)
                http_access allow all
                pid_filename \(own.path)/pid
                access_log stdio:\(own.path)/access
                cache_log \(own.path)/log
                coredump_dir \(own.path)
                cache deny all
                shutdown_lifetime 0 seconds
                """
            case .tinyproxy:
                "Port \(port)\nListen 127.0.0.1\nLogFile \"\(own.path)/access\"\nLogLevel Connect\nMaxClients 50\nTimeout 600"
            }
        // It does not stay root.
        for folder in [own, own.deletingLastPathComponent()] {
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
        }
        let file = own.appending(path: "conf")
        try Data((text + "\n").utf8).write(to: file)
        let arguments = self == .squid ? ["-N", "-n", "booksync\(port)", "-f", file.path] : ["-d", "-c", file.path]
        return try await withProduct(arguments, in: own, executable: ForeignProgram.path(rawValue)) { running in
            try await running.waitUntilListening(on: port)
            return try await body("http://127.0.0.1:\(port)")
        }
    }
}
