import Foundation

/// A real browser, driven over WebDriver (W3C): chromium without a window, with an empty profile of its own.
package struct Browser: Sendable {
    /// How the browser is set up.
    package struct Setting: Sendable {
        /// As `Accept-Language` has it.
        package var languages = "en"
        /// Pixels.
        package var width = 1280
        package var height = 900
        package var isDark = false
        package var runsScripts = true

        package init(
            languages: String = "en", width: Int = 1280, height: Int = 900, isDark: Bool = false,
            runsScripts: Bool = true
        ) {
            self.languages = languages
            self.width = width
            self.height = height
            self.isDark = isDark
            self.runsScripts = runsScripts
        }
    }

    /// Keys that are no characters (WebDriver §17.4.2).
    package enum Key: String, Sendable {
        case tab = "\u{E004}"
        case enter = "\u{E007}"
        case escape = "\u{E00C}"
        case left = "\u{E012}"
        case right = "\u{E014}"
        case space = " "
    }

    private struct Answer<Value: Decodable>: Decodable {
        let value: Value
    }

    private struct Nothing: Decodable {}

    private struct Trouble: Decodable {
        let error: String
        let message: String
    }

    private struct Session: Decodable {
        struct Capabilities: Decodable {
            let processID: Int32?

            enum CodingKeys: String, CodingKey { case processID = "goog:processID" }
        }

        let sessionId: String
        let capabilities: Capabilities
    }

    /// What WebDriver calls an element by.
    private struct Element: Decodable {
        let id: String

        enum CodingKeys: String, CodingKey { case id = "element-6066-11e4-a52e-4f735466cecf" }
    }

    private struct Tab: Decodable {
        let handle: String
    }

    private let port: Int
    private let session: String

    private static let chromium = URL(filePath: "/usr/bin/chromium")
    private static let driver = URL(filePath: "/usr/bin/chromedriver")

    /// Starts a browser for as long as the body takes.
    package static func run<Result>(
        _ setting: Setting = Setting(), isolation: isolated (any Actor)? = #isolation,
        _ body: (Browser) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryFolder { folder in
            try await withDriver(in: folder) { port in
                let session: Session = try await send(
                    port, "POST", "/session", capabilities(setting, profile: folder.appending(path: "profile").path))
                let browser = Browser(port: port, session: session.sessionId)
                let outcome: Swift.Result<Result, any Error>
                do {
                    try await browser.dress(setting)
                    outcome = .success(try await body(browser))
                } catch {
                    outcome = .failure(error)
                }
                await browser.end(session.capabilities.processID)
                return try outcome.get()
            }
        }
    }

    /// The driver takes a free port of IPv4, and gives up where that of IPv6 is taken: then it is asked again.
    private static func withDriver<Result>(
        in folder: URL, isolation: isolated (any Actor)? = #isolation, _ body: (Int) async throws -> Result
    ) async throws -> Result {
        var attempts = 0
        while true {
            attempts += 1
            var hasStarted = false
            do {
                return try await withProduct(["--port=0"], in: folder, executable: driver) { process in
                    let line = try await process.waitForOutput(containing: "started successfully on port")
                    hasStarted = true
                    return try await body(line.split { !$0.isNumber }.last.flatMap { Int($0) } ?? 0)
                }
            } catch is LineNeverCame where !hasStarted && attempts < 5 {
                continue
            }
        }
    }

    private static func capabilities(_ setting: Setting, profile: String) -> [String: Any] {
        let arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--mute-audio",
            "--hide-scrollbars", "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--disable-extensions", "--autoplay-policy=no-user-gesture-required",
            "--lang=\(setting.languages.prefix { $0 != "," })", "--user-data-dir=\(profile)",
            "--window-size=\(setting.width),\(setting.height)",
        ]
        var preferences: [String: Any] = ["intl.accept_languages": setting.languages]
        if !setting.runsScripts { preferences["profile.managed_default_content_settings.javascript"] = 2 }
        let options: [String: Any] = ["args": arguments, "binary": chromium.path, "prefs": preferences]
        return [
            "capabilities": [
                "alwaysMatch": ["goog:chromeOptions": options, "goog:loggingPrefs": ["browser": "ALL"]]
            ]
        ]
    }

    /// Gives the window another size, in CSS pixels. Those below the sizes of a window are a phone's.
    package func resize(width: Int, height: Int) async throws {
        try await command(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500])
    }

    private func dress(_ setting: Setting) async throws {
        try await resize(width: setting.width, height: setting.height)
        try await command(
            "Emulation.setEmulatedMedia",
            ["features": [["name": "prefers-color-scheme", "value": setting.isDark ? "dark" : "light"]]])
    }

    private func command(_ name: String, _ parameters: [String: Any]) async throws {
        let _: Nothing? = try await post("/goog/cdp/execute", ["cmd": name, "params": parameters])
    }

    /// The driver takes its browser along when it is asked to; one that was killed would leave it.
    private func end(_ process: Int32?) async {
        do {
            let _: Nothing? = try await Self.send(port, "DELETE", "/session/\(session)", nil)
        } catch {
            if let process { kill(process, SIGKILL) }
        }
    }

    // MARK: Talking

    private static func send<Value: Decodable>(
        _ port: Int, _ method: String, _ path: String, _ body: [String: Any]?
    ) async throws -> Value {
        let bytes = try body.map { try JSONSerialization.data(withJSONObject: $0) } ?? Data()
        let head = [
            "\(method) \(path) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Content-Type: application/json",
            "Content-Length: \(bytes.count)", "Connection: close", "", "",
        ]
        let request = head.joined(separator: "\r\n") + String(decoding: bytes, as: UTF8.self)
        let data = Data(try await onThread { try answer(of: port, to: request) })
        do {
            return try JSONDecoder().decode(Answer<Value>.self, from: data).value
        } catch {
            if let trouble = try? JSONDecoder().decode(Answer<Trouble>.self, from: data).value {
                throw BrowserTrouble(what: "\(path): \(trouble.error): \(trouble.message.prefix(400))")
            }
            throw BrowserTrouble(what: "\(path): \(error) in \(String(decoding: data.prefix(400), as: UTF8.self))")
        }
    }

    /// The body of what the driver answers; it leaves the connection open. Blocks.
    private static func answer(of port: Int, to request: String) throws -> [UInt8] {
        let socket = try Socket.connected(port: port)
        defer { socket.close() }
        _ = socket.send(Array(request.utf8)[...])
        var received: [UInt8] = []
        while true {
            if let end = received.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound {
                let head = String(decoding: received[..<end], as: UTF8.self).lowercased()
                let length = head.firstMatch(of: /content-length: *([0-9]+)/).flatMap { Int($0.output.1) } ?? 0
                if received.count - end >= length { return Array(received[end...]) }
            }
            guard let more = socket.receiveOrReset(), !more.isEmpty else {
                throw BrowserTrouble(what: "the driver of the browser closed the connection")
            }
            received += more
        }
    }

    private func post<Value: Decodable>(_ path: String, _ body: [String: Any] = [:]) async throws -> Value {
        try await Self.send(port, "POST", "/session/\(session)\(path)", body)
    }

    // MARK: Pages

    /// Has a script run in every page from now on, before those of the page.
    package func prepareEach(_ script: String) async throws {
        try await command("Page.addScriptToEvaluateOnNewDocument", ["source": script])
    }

    /// What the window shows, as PNG.
    package func screenshot() async throws -> Data {
        let text: String = try await Self.send(port, "GET", "/session/\(session)/screenshot", nil)
        return Data(base64Encoded: text) ?? Data()
    }

    package func open(_ address: String) async throws {
        let _: Nothing? = try await post("/url", ["url": address])
    }

    /// Has the page hidden by another tab while the body runs.
    package func hidden<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        let shown: String = try await Self.send(port, "GET", "/session/\(session)/window", nil)
        let other: Tab = try await post("/window/new", ["type": "tab"])
        let _: Nothing? = try await post("/window", ["handle": other.handle])
        let result = try await body()
        let _: [String] = try await Self.send(port, "DELETE", "/session/\(session)/window", nil)
        let _: Nothing? = try await post("/window", ["handle": shown])
        return result
    }

    package func reload() async throws {
        let _: Nothing? = try await post("/refresh")
    }

    /// The value of an expression in the page.
    package func evaluate<Value: Decodable & Sendable>(
        _ expression: String, as type: Value.Type = Value.self
    ) async throws -> Value {
        try await post("/execute/sync", ["script": "return (\(expression))", "args": []])
    }

    /// Waits until an expression is true.
    /// - Throws: ``BrowserTrouble`` with what the page then shows.
    package func wait(until expression: String) async throws {
        let deadline = HangGuard.deadline
        while true {
            let holds: Bool
            do {
                holds = try await evaluate("Boolean(\(expression))")
            } catch let trouble as BrowserTrouble where ContinuousClock.now < deadline {
                // The page is being changed for another one.
                holds = trouble.what.isEmpty
            }
            if holds { return }
            guard ContinuousClock.now < deadline else {
                let shown: String = try await evaluate(
                    "location.href + ' ' + document.title + ' ' + document.querySelector('main')?.innerText")
                throw BrowserTrouble(
                    what: "not within \(HangGuard.seconds) s: \(expression); shown is \(shown.prefix(1500))")
            }
            try await Task.sleep(for: .milliseconds(40))
        }
    }

    /// Clicks as a finger does: on what is there and not covered. What is being replaced is waited for.
    package func click(_ selector: String) async throws {
        try await persisting { try await act(on: selector, "click", [:]) }
    }

    /// Types into a field, or sends keys to what has the focus of the page.
    package func type(_ text: String, into selector: String) async throws {
        try await persisting { try await act(on: selector, "value", ["text": text]) }
    }

    /// Presses a key, wherever the focus is.
    package func press(_ key: Key) async throws {
        try await press(key.rawValue)
    }

    /// The same for a character.
    package func press(_ character: String) async throws {
        let strokes: [[String: Any]] = [
            ["type": "keyDown", "value": character], ["type": "keyUp", "value": character],
        ]
        let _: Nothing? = try await post(
            "/actions", ["actions": [["type": "key", "id": "keyboard", "actions": strokes]]])
    }

    private func act(on selector: String, _ action: String, _ body: [String: Any]) async throws {
        let element: Element = try await post("/element", ["using": "css selector", "value": selector])
        let _: Nothing? = try await post("/element/\(element.id)/\(action)", body)
    }

    private func persisting<Value>(_ work: () async throws -> Value) async throws -> Value {
        let deadline = HangGuard.deadline
        while true {
            do {
                return try await work()
            } catch let trouble as BrowserTrouble {
                guard ContinuousClock.now < deadline else { throw trouble }
                try await Task.sleep(for: .milliseconds(40))
            }
        }
    }

    /// The text of what a selector finds; works without scripts too.
    package func text(of selector: String) async throws -> String {
        try await persisting {
            let element: Element = try await post("/element", ["using": "css selector", "value": selector])
            return try await Self.send(port, "GET", "/session/\(session)/element/\(element.id)/text", nil)
        }
    }

    /// Waits until what a selector finds has a text; works without scripts too. A click may return before the page it leads to is there.
    /// - Parameter reloading: Whether the page is loaded again before each further look: without scripts none changes by itself.
    /// - Throws: ``BrowserTrouble`` with the text that is there.
    package func wait(for text: String, in selector: String, reloading: Bool = false) async throws {
        let deadline = HangGuard.deadline
        while true {
            let shown = try await self.text(of: selector)
            if shown.contains(text) { return }
            guard ContinuousClock.now < deadline else {
                throw BrowserTrouble(
                    what: "not within \(HangGuard.seconds) s: \(text) in \(selector), which is \(shown.prefix(1500))")
            }
            try await Task.sleep(for: .milliseconds(reloading ? 150 : 40))
            if reloading { try await reload() }
        }
    }

    /// Warnings and errors of pages since the last time.
    package func complaints() async throws -> [String] {
        struct Entry: Decodable {
            let level: String
            let message: String
        }
        let entries: [Entry] = try await post("/se/log", ["type": "browser"])
        return entries.filter { $0.level == "SEVERE" || $0.level == "WARNING" }.map(\.message)
    }
}

/// What the browser could not do, or a page did not.
package struct BrowserTrouble: Error, CustomStringConvertible {
    let what: String

    package var description: String { what }
}
