import Foundation

/// nginx: audio under `/audio/`, recorded catalog pages under `/catalog/`, the one file `audio/same` under all of `/same/`.
struct WebServer {
    /// Where it listens.
    struct Place {
        let host: String
        let port: Int
        /// Before its command; enters a network namespace.
        var prefix: [String] = []
    }

    private let place: Place
    private let isSecure: Bool

    var address: String { "http\(isSecure ? "s" : "")://\(place.host):\(place.port)" }
    var port: Int { place.port }

    /// Serves the workspace's folders `audio` and `catalog` while the body runs.
    /// - Parameters:
    ///   - place: without one, a random loopback port.
    ///   - certificate: the path of one with its key, for HTTPS.
    static func with<Answer>(
        _ workspace: Workspace, at place: Place? = nil, certificate: String? = nil,
        _ body: (WebServer) async throws -> Answer
    ) async throws -> Answer {
        let place = try place ?? Place(host: "127.0.0.1", port: Int(freePort()))
        let prefix = try workspace.emptyFolder("nginx")
        let configuration = try workspace.write(
            text(prefix: prefix, root: workspace.path, place: place, certificate), to: "nginx/nginx.conf")
        let program = ["/usr/sbin/nginx", "/usr/local/sbin/nginx"].first(where: FileManager.default.isExecutableFile)
        let process = try MeasuredProcess.start(
            place.prefix + [program ?? "nginx", "-c", configuration, "-p", prefix, "-e", "\(prefix)/error.log"],
            log: "\(prefix)/output.log")
        defer {
            kill(process, SIGTERM)
            _ = Result { try MeasuredProcess.wait(for: process) }
        }
        try waitUntilListening(process, prefix: prefix)
        return try await body(WebServer(place: place, isSecure: certificate != nil))
    }

    /// A page of a book is the file `catalog/BOOK/PAGE.json`.
    private static func text(prefix: String, root: String, place: Place, _ certificate: String?) -> String {
        """
        \(getuid() == 0 ? "user root;" : "")
        daemon off;
        worker_processes auto;
        pid \(prefix)/pid;
        events { worker_connections 256; }
        http {
            access_log off;
            sendfile on;
            tcp_nopush on;
            keepalive_requests 1000000;
            default_type application/octet-stream;
            types { audio/mpeg mp3; application/json json; }
            client_body_temp_path \(prefix)/body;
            proxy_temp_path \(prefix)/proxy;
            fastcgi_temp_path \(prefix)/fastcgi;
            uwsgi_temp_path \(prefix)/uwsgi;
            scgi_temp_path \(prefix)/scgi;
            server {
                listen \(place.host):\(place.port)\(certificate == nil ? "" : " ssl");
                \(certificate.map { "ssl_certificate \($0); ssl_certificate_key \($0);" } ?? "")
                root \(root);
                location /audio/ { autoindex on; }
                location = /catalog { try_files /catalog/$arg_bookId/$arg_pageNum.json =404; }
                location /catalog/ { }
                location /same/ { try_files /audio/same =404; }
            }
        }
        """
    }

    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, streamType, 0)
        defer { close(descriptor) }
        var address = loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withSocketAddress(&address) { bind(descriptor, $0, length) == 0 }
        let isNamed = withSocketAddress(&address) { getsockname(descriptor, $0, &length) == 0 }
        guard isBound, isNamed else { throw MeasuredProcess.Failed(description: "there is no free port") }
        return UInt16(bigEndian: address.sin_port)
    }

    /// nginx says who it is once its sockets listen.
    private static func waitUntilListening(_ process: pid_t, prefix: String) throws {
        for _ in 0..<1000 where !MeasuredProcess.hasEnded(process) {
            if FileManager.default.fileExists(atPath: "\(prefix)/pid") { return }
            usleep(10_000)
        }
        let log = FileManager.default.contents(atPath: "\(prefix)/error.log") ?? Data()
        throw MeasuredProcess.Failed(description: "nginx does not start: \(String(decoding: log, as: UTF8.self))")
    }

    private static var streamType: CInt {
        #if canImport(Glibc)
            CInt(SOCK_STREAM.rawValue)
        #else
            SOCK_STREAM
        #endif
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func withSocketAddress<Answer>(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Answer
    ) -> Answer {
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
    }
}
