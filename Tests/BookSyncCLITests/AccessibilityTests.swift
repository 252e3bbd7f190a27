import Foundation
import Support
import Testing

extension ForeignClientTests {
    /// The pages as axe judges them, by the rules of WCAG 2.2 and of good practice.
    @Suite(.needs("chromium", "chromedriver"))
    struct Accessibility {
        private struct Violation: Decodable, Sendable, CustomStringConvertible {
            var id: String
            var help: String
            var targets: [String]

            var description: String { "\(id): \(help): \(targets.joined(separator: ", "))" }
        }

        private static let module = "axe_playwright_python"

        /// The script of axe-core.
        private static func axe() async throws -> String {
            let python = try #require(await ForeignProgram.python(having: module))
            let ask = ["-c", "import \(module) as a; print(a.__path__[0], end='')"]
            let folder = try await withProduct(
                ask, environment: ForeignProgram.home, in: URL(filePath: "/"), executable: python
            ) { try await $0.result().output }
            return try String(contentsOf: URL(filePath: "\(folder)/axe.min.js"), encoding: .utf8)
        }

        private static func violations(in browser: Browser, _ axe: String) async throws -> [Violation] {
            try await browser.evaluate(
                """
                (() => { \(axe); return window.axe.run({ resultTypes: ["violations"] }) })().then(found =>
                  found.violations.map(v => ({ id: v.id, help: v.help, targets: v.nodes.map(n => n.target.join(" ")) })))
                """)
        }

        private static func expectAccessible(_ browser: Browser, _ axe: String, _ page: String) async throws {
            let violations = try await violations(in: browser, axe)
            #expect(violations.isEmpty, "\(page): \(violations)")
        }

        private static let settings = [
            Browser.Setting(languages: "en", width: 360, height: 740),
            Browser.Setting(languages: "zh-CN,zh", width: 1280, height: 900, isDark: true),
        ]

        @Test(
            .needs(python: module), arguments: settings)
        func `axe finds nothing in any page`(_ setting: Browser.Setting) async throws {
            let axe = try await Self.axe()
            try await withWorkbench { bench in
                #expect(try await bench.run("fetch", "40111", "--only", "1-4", "-q").exitCode == 0)
                #expect(try await bench.run("fetch", "30776", "--only", "1-2", "-q").exitCode == 0)
                #expect(try await bench.run("subscribe", "demo:40111").exitCode == 0)
                let added = try await bench.shell("echo 'secret of Kim' | $BOOKSYNC serve --add-user Kim --library L")
                try #require(added.exitCode == 0, "\(added.errors)")
                try await bench.serveGuarded(settings: "find: { sources: [] }") { shelf in
                    try await Browser.run(setting) { browser in
                        try await browser.open(shelf.address)
                        try await Self.expectAccessible(browser, axe, "login")
                        try await browser.type("Kim", into: "[name=name]")
                        try await browser.type("secret of Kim", into: "[name=password]")
                        try await browser.click("main form button")
                        try await browser.wait(until: "document.querySelector('.books')")
                        // With what one has played, marked and noted.
                        try await browser.open("\(shelf.address)/books/demo/40111")
                        try await browser.click("tbody tr:nth-child(2) .play")
                        try await browser.wait(until: "document.getElementById('audio').currentTime > 0.2")
                        try await browser.click("[data-do=toggle]")
                        try await Self.expectAccessible(browser, axe, "book, with the player")
                        let pages = [
                            "/", "/books/demo/40111", "/books/demo/40111/5000000002", "/books/demo/30776", "/queue",
                            "/search?q=a", "/search?q=%E5%A4%9C", "/runs", "/subscriptions", "/discover", "/doctor",
                            "/nothing",
                        ]
                        for page in pages {
                            try await browser.open(shelf.address + page)
                            try await Self.expectAccessible(browser, axe, page)
                        }
                        try await browser.open("\(shelf.address)/discover")
                        try await browser.type("夜航\(Browser.Key.enter.rawValue)", into: "#wanted")
                        try await browser.wait(until: "document.querySelector('.found li')")
                        try await Self.expectAccessible(browser, axe, "discover, with results")
                        // It does find what is wrong.
                        let _: Bool = try await browser.evaluate(
                            "Boolean(document.body.append(new Image(40, 40))) || true")
                        let found = try await Self.violations(in: browser, axe)
                        #expect(found.map(\.id).contains("image-alt"), "\(found)")
                    }
                }
            }
        }
    }
}
