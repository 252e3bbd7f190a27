import Foundation

/// nginx on a random loopback port: audio under `/audio/`, recorded catalog pages under `/catalog/`.
struct WebServer {
    let address: String
    private let process: pid_t

    /// Serves the workspace's folders `audio` and `catalog` while the body runs.
    static func with<Answer>(
        _ workspace: Workspace, _ body: (WebServer) async throws -> Answer
    ) async throws -> Answer {
        let port = try freePort()
        let prefix = try workspace.emptyFolder("nginx")
        let configuration = try workspace.write(
            text(prefix: prefix, root: workspace.path, port: port), to: "nginx/nginx.conf")
        let program = ["/usr/sbin/nginx", "/usr/local/sbin/nginx"].first(where: FileManager.default.isExecutableFile)
        let process = try MeasuredProcess.start(
            [program ?? "nginx", "-c", configuration, "-p", prefix, "-e", "\(prefix)/error.log"],
            log: "\(prefix)/output.log")
        defer {
            kill(process, SIGTERM)
            _ = Result { try MeasuredProcess.wait(for: process) }
        }
        try waitUntilListening(on: port, process: process, log: "\(prefix)/error.log")
        return try await body(WebServer(address: "http://127.0.0.1:\(port)", process: process))
    }

    /// A page of a book is the file `catalog/BOOK/PAGE.json`.
    private static func text(prefix: String, root: String, port: UInt16) -> String {
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
                listen 127.0.0.1:\(port);
                root \(root);
                location /audio/ { autoindex on; }
                location = /catalog { try_files /catalog/$arg_bookId/$arg_pageNum.json =404; }
                location /catalog/ { }
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

    private static func waitUntilListening(on port: UInt16, process: pid_t, log: String) throws {
        for _ in 0..<1000 {
            let descriptor = socket(AF_INET, streamType, 0)
            defer { close(descriptor) }
            var address = loopback(port: port)
            let length = socklen_t(MemoryLayout<sockaddr_in>.size)
            if withSocketAddress(&address, { connect(descriptor, $0, length) == 0 }) { return }
            guard waitpid(process, nil, WNOHANG) == 0 else { break }
            usleep(10_000)
        }
        let text = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
        throw MeasuredProcess.Failed(description: "nginx does not start: \(text)")
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
