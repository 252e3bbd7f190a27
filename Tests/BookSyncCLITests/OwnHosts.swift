import Foundation
import Support

/// Names that only one process knows: a hosts file that is mounted over the machine's, in a mount namespace of its own.
enum OwnHosts {
    static func arePossible() async -> Bool {
        guard geteuid() == 0 else { return false }
        return await ProductRunner.succeeds(
            URL(filePath: "/bin/sh"), ["-c", "unshare -m mount --bind /dev/null /etc/hosts"])
    }
}

extension Workbench {
    /// Runs the product with the written configuration where the system resolves these names, and no others of its own.
    /// - Parameter hosts: lines as in `/etc/hosts`.
    func run(
        _ arguments: String, hosts: String, environment: [String: String] = [:]
    ) async throws -> ProductRunner.Result {
        try Data(hosts.utf8).write(to: folder.appending(path: "hosts"))
        let product = ProductRunner.executable?.path ?? ""
        let script = """
            exec unshare -m sh -c 'mount --bind hosts /etc/hosts && \
            exec "$BOOKSYNC" \(arguments) --library L --config booksync.yaml'
            """
        return try await withProduct(
            ["-c", script], environment: environment.merging(["BOOKSYNC": product]) { $1 }, in: folder,
            executable: URL(filePath: "/bin/sh")
        ) { try await $0.result() }
    }
}
