import Foundation
import Support
import Testing

/// The runner of the product, tried on a shell: what the tests see of a process must be what it did.
@Suite(.limitedConcurrency) struct ProductRunnerTests {
    private let shell = URL(filePath: "/bin/sh")

    @Test func `output, errors and exit code are told apart`() async throws {
        try await withTemporaryFolder { folder in
            let script = "echo out; echo err >&2; pwd; echo $HOME $GREETING; cat; exit 7"
            let result = try await withProduct(
                ["-c", script], environment: ["GREETING": "hi"], in: folder, executable: shell
            ) { try await $0.result() }
            #expect(result.exitCode == 7)
            #expect(result.signal == nil)
            #expect(result.outputLines == ["out", folder.path, "\(folder.path) hi"])
            #expect(result.errors == "err\n")
        }
    }

    @Test func `a megabyte on either pipe holds nobody`() async throws {
        try await withTemporaryFolder { folder in
            let script = "head -c 1000000 /dev/zero >&2; head -c 1000000 /dev/zero"
            let result = try await withProduct(["-c", script], in: folder, executable: shell) {
                try await $0.result()
            }
            #expect(result.output.utf8.count == 1_000_000)
            #expect(result.errors.utf8.count == 1_000_000)
        }
    }

    @Test func `a signal reaches the process after a line of its own`() async throws {
        try await withTemporaryFolder { folder in
            let script = "trap 'echo caught; exit 130' INT; echo ready now; while :; do :; done"
            try await withProduct(["-c", script], in: folder, executable: shell) { process in
                #expect(try await process.waitForOutput(containing: "ready") == "ready now")
                process.send(signal: SIGINT)
                let result = try await process.result()
                #expect(result.exitCode == 130)
                #expect(result.output.hasSuffix("caught\n"))
            }
        }
    }

    @Test func `what still runs at the end of the scope is killed`() async throws {
        try await withTemporaryFolder { folder in
            let process = try await withProduct(["-c", "echo up; exec sleep 1000"], in: folder, executable: shell) {
                try await $0.waitForOutput(containing: "up")
                return $0
            }
            #expect(try await process.result().signal == SIGKILL)
            await #expect(throws: LineNeverCame.self) { try await process.waitForOutput(containing: "never") }
        }
    }

    @Test func `the product is found beside the tests`() async throws {
        let executable = try #require(ProductRunner.executable)
        #expect(executable.lastPathComponent == "booksync")
    }
}
