#if os(Linux)
    import Foundation
    import Support
    import Testing

    /// Both ends of a pseudo-terminal: what a program writes to one, the test reads from the other.
    struct PseudoTerminal {
        let controller: Int32
        let terminal: Int32
        /// Where another process may open the terminal.
        let path: String

        init(columns: Int, rows: Int) throws {
            controller = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
            try #require(controller >= 0)
            // What unlockpt(3) and ptsname(3) do, which glibc's module does not show.
            var lock: Int32 = 0
            var number: Int32 = 0
            try #require(ioctl(controller, 0x4004_5431, &lock) == 0 && ioctl(controller, 0x8004_5430, &number) == 0)
            path = "/dev/pts/\(number)"
            terminal = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
            try #require(terminal >= 0)
            resize(columns: columns, rows: rows)
        }

        func resize(columns: Int, rows: Int) {
            var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
            _ = ioctl(controller, UInt(TIOCSWINSZ), &size)
        }

        /// All that was written so far; the display's calls return when their bytes are written.
        func output() throws -> String {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            var descriptor = pollfd(fd: controller, events: Int16(POLLIN), revents: 0)
            while poll(&descriptor, 1, 0) > 0, descriptor.revents & Int16(POLLIN) != 0 {
                let count = read(controller, &buffer, buffer.count)
                guard count > 0 else { break }
                bytes += buffer.prefix(count)
            }
            return try #require(String(bytes: bytes, encoding: .utf8))
        }

        func close() {
            _ = Foundation.close(terminal)
            _ = Foundation.close(controller)
        }
    }

    /// What a program of another process has written to a terminal, and what stands on its screen.
    final class RecordedTerminal: Sendable {
        private struct State: Sendable {
            var bytes: [UInt8] = []
            var isOver = false
        }

        let columns: Int
        private let pair: PseudoTerminal
        private let state = Watched(State())

        fileprivate init(columns: Int, rows: Int) throws {
            self.columns = columns
            self.pair = try PseudoTerminal(columns: columns, rows: rows)
            let (controller, state) = (pair.controller, self.state)
            Thread.detachNewThread {
                var buffer = [UInt8](repeating: 0, count: 4096)
                // It ends with an error once nobody has the terminal open any more.
                while case let count = read(controller, &buffer, buffer.count), count > 0 || errno == EINTR {
                    guard count > 0 else { continue }
                    let part = buffer.prefix(count)
                    state.update { $0.bytes += part }
                }
                state.update { $0.isOver = true }
            }
        }

        var path: String { pair.path }

        /// Everything that was written, in the encoding in which it was.
        var bytes: [UInt8] { state.value.bytes }

        /// Everything that was written, steering included.
        var text: String { Self.text(state.value) }

        /// Types on its keyboard.
        func type(_ text: String) {
            let bytes = Array(text.utf8)
            #expect(write(pair.controller, bytes, bytes.count) == bytes.count)
        }

        var screen: VirtualTerminal { Self.screen(text, columns) }

        /// Waits until the rows of the screen are as wanted, and returns them.
        @discardableResult
        func waitForScreen(_ isWanted: @escaping @Sendable ([String]) -> Bool) async throws -> [String] {
            let columns = columns
            return Self.screen(
                Self.text(try await state.waitUntil { isWanted(Self.screen(Self.text($0), columns).text) }), columns
            ).text
        }

        /// Waits until what was written, steering included, is as wanted.
        func waitForText(_ isWanted: @escaping @Sendable (String) -> Bool) async throws {
            try await state.waitUntil { isWanted(Self.text($0)) }
        }

        private static func text(_ state: State) -> String { String(decoding: state.bytes, as: UTF8.self) }

        private static func screen(_ text: String, _ columns: Int) -> VirtualTerminal {
            var screen = VirtualTerminal(width: columns)
            screen.feed(text)
            return screen
        }

        /// Lets go of the terminal, which nobody else has open any more, and returns when all of it was read.
        fileprivate func end() async throws {
            _ = Foundation.close(pair.terminal)
            try await state.waitUntil { $0.isOver }
            _ = Foundation.close(pair.controller)
        }
    }

    extension Workbench {
        /// Runs a line of shell beside the body, in which `$BOOKSYNC` is the product and `$TERMINAL` a terminal that
        /// something may be written to.
        func onTerminal(
            columns: Int = 80, rows: Int = 24, _ script: String, environment: [String: String] = [:],
            isolation: isolated (any Actor)? = #isolation,
            _ body: (RunningProduct, RecordedTerminal) async throws -> Void
        ) async throws {
            let product = try #require(ProductRunner.executable)
            let terminal = try RecordedTerminal(columns: columns, rows: rows)
            let variables = ["BOOKSYNC": product.path, "TERMINAL": terminal.path, "TERM": "xterm"]
            do {
                try await withProduct(
                    ["-c", script], environment: variables.merging(environment) { $1 }, in: folder,
                    executable: URL(filePath: "/bin/sh")
                ) { running in
                    try await body(running, terminal)
                    _ = try await running.result()
                }
            } catch {
                try await terminal.end()
                throw error
            }
            try await terminal.end()
        }
    }
#endif
