import BookSync
import Foundation
import Support
import Testing

extension ForeignClientTests {
    /// The shelf in a real browser, with the demo catalog behind it.
    @Suite(.full, .needs("chromium", "chromedriver"))
    struct InTheBrowser {
        /// The short book with its first episode on disk, served.
        /// - Parameter tap: what the others come through.
        private static func withShelf(
            fetching sections: String = "1", isolation: isolated (any Actor)? = #isolation,
            _ body: (_ bench: Workbench, _ shelf: ServedShelf, _ tap: Tap) async throws -> Void
        ) async throws {
            try await withWorkbench { bench in
                let fetched = try await bench.run("fetch", "40111", "--only", sections, "-q")
                try #require(fetched.exitCode == 0, "\(fetched.errors)")
                try await bench.serveHeld(allowing: .max) { try await body(bench, $0, $1.tap) }
            }
        }

        private static func row(_ section: Int) -> String { "tbody tr:nth-child(\(section))" }

        /// Nothing may be wider than the window, nothing be complained of.
        private static func expectTidy(_ browser: Browser, _ page: String) async throws {
            let outside: [String] = try await browser.evaluate(
                """
                [...document.querySelectorAll("body *")].filter(e => e.checkVisibility()).filter(e => {
                  const box = e.getBoundingClientRect();
                  return box.width > 1 && box.height > 1 && (box.right > innerWidth + 1 || box.left < -1);
                }).map(e => `${e.tagName}.${e.className}`).concat(
                  document.documentElement.scrollWidth > innerWidth ? ["the page"] : [])
                """)
            #expect(outside == [], "\(page)")
            #expect(try await browser.complaints() == [], "\(page)")
        }

        /// What of the page cannot be used: controls of the player that something covers, what is cut off by what holds it,
        /// names without room.
        private static let obstructed = """
            (() => {
              const found = [];
              for (const e of document.querySelectorAll("a, button, input, select, summary, .rows .name")) {
                const box = e.getBoundingClientRect(), label = e.ariaLabel || e.id || e.textContent.trim().slice(0, 20);
                if (!e.checkVisibility() || box.width < 2 || e.closest(".skip, .unseen, thead")) continue;
                if (e.matches(".rows .name") && box.width < 130) found.push(`no room: ${label}`);
                if (e.closest(".player")) {
                  for (const x of [box.left + 3, box.right - 3]) {
                    const top = document.elementFromPoint(x, box.top + box.height / 2);
                    if (top && !e.contains(top) && !top.contains(e)) found.push(`covered: ${label}`);
                  }
                }
                for (let p = e.parentElement; p && p !== document.body; p = p.parentElement) {
                  if (getComputedStyle(p).overflowX !== "visible" && box.right > p.getBoundingClientRect().right + 1)
                    found.push(`cut off: ${label}`);
                }
              }
              const player = document.getElementById("player").getBoundingClientRect();
              if (player.height > innerHeight * 0.3) found.push("the player takes the page");
              return found;
            })()
            """

        private static let sizes = [
            (320, 640), (360, 740), (740, 360), (768, 1024), (834, 1112), (961, 700), (1024, 768), (1280, 900),
            (1920, 1080),
        ]

        @Test(arguments: [("en", false), ("zh-CN,zh", true)])
        func `at every size there is room for names, and nothing covers the player`(
            languages: String, isDark: Bool
        ) async throws {
            try await Self.withShelf(fetching: "1-6") { bench, shelf, _ in
                #expect(try await bench.run("subscribe", "demo:40111").exitCode == 0)
                try await Browser.run(.init(languages: languages, isDark: isDark)) { browser in
                    for page in [
                        "/books/demo/40111", "/", "/books/demo/40111/5000000001", "/queue", "/search?q=%E5%A4%9C",
                        "/runs",
                        "/subscriptions", "/discover", "/doctor",
                    ] {
                        try await browser.open(shelf.address + page)
                        if page.hasSuffix("40111") {
                            try await browser.click("\(Self.row(1)) .play")
                            try await browser.wait(until: "!document.getElementById('player').hidden")
                            try await browser.click("[data-do=toggle]")
                        }
                        for (width, height) in Self.sizes {
                            try await browser.resize(width: width, height: height)
                            let obstructed: [String] = try await browser.evaluate(Self.obstructed)
                            #expect(obstructed == [], "\(page) at \(width) × \(height)")
                            try await Self.expectTidy(browser, "\(page) at \(width) × \(height)")
                        }
                    }
                }
            }
        }

        @Test(arguments: [("zh-CN,zh", 360), ("en", 1280)])
        func `an episode is downloaded, paused, continued, played and found`(languages: String, width: Int) async throws
        {
            let isChinese = languages.hasPrefix("zh")
            try await Self.withShelf { _, shelf, tap in
                tap.allow(60_000)
                try await Browser.run(.init(languages: languages, width: width, height: 740)) { browser in
                    let second = Self.row(2)
                    func waitForState(_ state: String) async throws {
                        try await browser.wait(until: "document.querySelector('\(second).is-\(state)')")
                    }
                    func wait(forText text: String) async throws {
                        try await browser.wait(
                            until: "document.querySelector('\(second)').innerText.includes('\(text)')")
                    }
                    try await browser.open(shelf.address)
                    try await Self.expectTidy(browser, "shelf")
                    try await browser.click(".books a.book")
                    try await browser.wait(until: "document.querySelectorAll('tbody tr').length === 6")
                    try await wait(forText: isChinese ? "未下载" : "Not here")
                    try await browser.click("\(second) [formaction$='/fetch']")
                    try await waitForState("downloading")
                    try await browser.wait(
                        until: "document.querySelector('\(second) progress')?.value > 4096")
                    let before: Double = try await browser.evaluate(
                        "document.querySelector('\(second) progress').value")
                    tap.allow(150_000)
                    try await browser.wait(until: "document.querySelector('\(second) progress')?.value > \(before)")
                    if isChinese {
                        try await browser.click("\(second) [formaction$='/pause']")
                    } else {
                        // What of the book was never asked for stays as it is.
                        try await browser.reload()
                        try await browser.click("[name='ref'][formaction$='/pause']")
                    }
                    try await waitForState("paused")
                    #expect(try await browser.evaluate("document.querySelector('\(Self.row(3)).is-absent') !== null"))
                    try await wait(forText: isChinese ? "已暂停" : "Paused")
                    try await browser.reload()
                    try await waitForState("paused")
                    #expect(
                        try await browser.evaluate("document.querySelector('\(second) progress').value >= \(before)"))
                    try await Self.expectTidy(browser, "book")
                    tap.open()
                    try await browser.click("\(second) [formaction$='/resume']")
                    try await waitForState("finished")
                    try await wait(forText: isChinese ? "已下载" : "On disk")
                    try await browser.click("\(second) .play")
                    try await browser.wait(until: "document.getElementById('audio').currentTime > 1")
                    // The audio goes on while the page changes.
                    try await browser.type("夜航", into: "#q")
                    try await browser.wait(
                        until: "location.pathname === '/search' && document.querySelectorAll('tbody tr').length === 6")
                    #expect(
                        try await browser.evaluate(
                            "!document.getElementById('audio').paused && document.querySelector('h1').innerText.includes('夜航')"
                        ))
                    try await browser.click("[data-do=toggle]")
                    // Where it stopped is on its way to the store.
                    let deadline = HangGuard.deadline
                    var position = 0.0
                    while position < 1 {
                        try #require(ContinuousClock.now < deadline, "the position is not kept")
                        try await browser.open("\(shelf.address)/")
                        position = try await browser.evaluate(
                            "Number(document.querySelector('.continuing .play')?.dataset.at ?? 0)")
                    }
                    try await Self.expectTidy(browser, "shelf with a player")
                }
            }
        }

        @Test func `one episode follows the other, and what was heard stays heard`() async throws {
            try await Self.withShelf(fetching: "1-2") { _, shelf, _ in
                try await Browser.run(.init(languages: "en", width: 1280, height: 800)) { browser in
                    let (book, audio) = ("\(shelf.address)/books/demo/40111", "document.getElementById('audio')")
                    let title = "navigator.mediaSession.metadata?.title"
                    try await browser.open(book)
                    try await browser.wait(until: "document.querySelectorAll('tbody tr').length === 6")
                    try await browser.click("\(Self.row(1)) .play")
                    try await browser.wait(until: "\(audio).currentTime > 0 && \(title)?.startsWith('第001集')")
                    let seeks: Bool = try await browser.evaluate(
                        "(it => { it.currentTime = it.duration - 1; return it.duration > 10; })(\(audio))")
                    #expect(seeks)
                    try await browser.wait(
                        until: "\(title)?.startsWith('第002集') && !\(audio).paused && \(audio).currentTime > 0")
                    // What it says of the first one is on its way to the store.
                    let deadline = HangGuard.deadline
                    let heard = "document.querySelector('\(Self.row(1)) .heard')?.innerText === 'Played'"
                    repeat {
                        try #require(ContinuousClock.now < deadline, "the first episode is not heard")
                        try await browser.open(book)
                        try await browser.wait(until: "document.querySelectorAll('tbody tr').length === 6")
                    } while try await !browser.evaluate(heard)
                }
            }
        }

        /// Keeps what the page gives to others to call: the browser's media keys, and a clock that is not waited for.
        private static let eavesdropping = """
            const giveKey = MediaSession.prototype.setActionHandler;
            window.keys = {};
            MediaSession.prototype.setActionHandler = function (name, handler) {
              keys[name] = handler;
              giveKey.call(this, name, handler);
            };
            const wait = window.setTimeout;
            window.setTimeout = (work, time, ...rest) => {
              if (time >= 60000) window.late = { work, minutes: time / 60000 };
              return wait(work, time, ...rest);
            };
            """

        @Test func `the player obeys the keys of the system, speeds up, and goes to sleep`() async throws {
            try await Self.withShelf(fetching: "1-3") { _, shelf, _ in
                try await Browser.run { browser in
                    let audio = "document.getElementById('audio')"
                    func press(_ key: String, _ detail: String = "{}") async throws {
                        try await browser.wait(until: "window.keys.\(key)")
                        let _: Bool = try await browser.evaluate("(keys.\(key)(\(detail)), true)")
                    }
                    func expectPlaying(_ title: String) async throws {
                        try await browser.wait(
                            until: "navigator.mediaSession.metadata?.title.startsWith('\(title)') && !\(audio).paused"
                                + " && \(audio).currentTime > 0")
                    }
                    try await browser.prepareEach(Self.eavesdropping)
                    try await browser.open("\(shelf.address)/books/demo/40111")
                    try await browser.click("\(Self.row(1)) .play")
                    try await expectPlaying("第001集")
                    #expect(
                        try await browser.evaluate(
                            "(it => it.album === '夜航船' && it.artwork.length === 1)(navigator.mediaSession.metadata)"))
                    try await press("pause")
                    try await browser.wait(until: "\(audio).paused")
                    try await press("seekto", "{seekTime: 3}")
                    #expect(try await browser.evaluate("\(audio).currentTime === 3"))
                    try await press("seekforward")
                    #expect(try await browser.evaluate("\(audio).currentTime === 18"))
                    try await press("seekforward", "{seekOffset: 2}")
                    try await press("seekbackward")
                    #expect(try await browser.evaluate("\(audio).currentTime === 5"))
                    try await press("play")
                    try await expectPlaying("第001集")
                    try await press("nexttrack")
                    try await expectPlaying("第002集")
                    try await press("previoustrack")
                    try await expectPlaying("第001集")

                    try await browser.click("#player-speed option[value='1.5']")
                    #expect(try await browser.evaluate("\(audio).playbackRate === 1.5"))
                    try await browser.click("#player-sleep option[value='15']")
                    #expect(try await browser.evaluate("window.late.minutes === 15 && !\(audio).paused"))
                    let _: Bool = try await browser.evaluate("(late.work(), true)")
                    try await browser.wait(until: "\(audio).paused")
                    #expect(try await browser.evaluate("document.getElementById('player-sleep').value === ''"))

                    // At the end of the episode: the next one does not begin.
                    try await browser.click("#player-sleep option[value='end']")
                    let _: Bool = try await browser.evaluate("(\(audio).currentTime = \(audio).duration - 1, true)")
                    try await press("play")
                    try await browser.wait(
                        until: "\(audio).ended && document.getElementById('player-sleep').value === ''")
                    #expect(
                        try await browser.evaluate(
                            "navigator.mediaSession.metadata.title.startsWith('第001集') && \(audio).playbackRate === 1.5"
                        ))
                    // What was chosen for this one holds for the next.
                    try await press("nexttrack")
                    try await expectPlaying("第002集")
                    #expect(try await browser.evaluate("\(audio).playbackRate === 1.5"))
                    #expect(try await browser.complaints() == [])
                }
            }
        }

        @Test func `all can be done by keyboard, and the page lives through a restart of the server`() async throws {
            try await Self.withShelf(fetching: "1-2") { bench, shelf, tap in
                tap.allow(60_000)
                try await Browser.run { browser in
                    let (second, third) = (Self.row(2), Self.row(3))
                    try await browser.open("\(shelf.address)/books/demo/40111")
                    try await browser.press(.tab)
                    #expect(try await browser.evaluate("document.activeElement.className === 'skip'"))
                    try await browser.press(.enter)
                    try await browser.wait(until: "document.activeElement.id === 'main'")
                    try await browser.press("/")
                    #expect(try await browser.evaluate("document.activeElement.id === 'q'"))
                    // To the first button of a row, by Tab alone.
                    func tab(to selector: String) async throws {
                        for _ in 0..<60 {
                            if try await browser.evaluate(
                                "document.activeElement.matches('\(selector)')", as: Bool.self)
                            {
                                return
                            }
                            try await browser.press(.tab)
                        }
                        Issue.record("Tab does not lead to \(selector)")
                    }
                    try await tab(to: "\(second) .play")
                    try await browser.press(.enter)
                    try await browser.wait(until: "document.getElementById('audio').currentTime > 0.3")
                    try await browser.press(.right)
                    try await browser.wait(until: "document.getElementById('audio').currentTime > 15")
                    try await tab(to: "\(third) [formaction$=\"/fetch\"]")
                    try await browser.press(.enter)
                    try await browser.wait(until: "document.querySelector('\(third).is-downloading')")
                    // The button that was pressed became another one; whoever pressed it is there still.
                    try await browser.wait(
                        until: "document.activeElement.closest('tr') === document.querySelector('\(third)')")
                    try await browser.wait(until: "document.getElementById('news').textContent.length > 0")

                    shelf.product.send(signal: SIGKILL)
                    _ = try await shelf.product.result()
                    let isMarked: Bool = try await browser.evaluate("window.isTheSame = true")
                    #expect(isMarked)
                    // The request outlives the server: the next one goes on by itself.
                    try await bench.serve(port: shelf.port, environment: bench.configured) { _ in
                        tap.open()
                        try await browser.wait(until: "document.querySelector('\(third).is-finished')")
                        #expect(
                            try await browser.evaluate(
                                "window.isTheSame === true && document.getElementById('trouble').hidden"))
                    }
                }
            }
        }

        @Test func `what a proxy answers while the server is away leaves page, player and script as they are`()
            async throws
        {
            try await Self.withShelf(fetching: "1-2") { bench, shelf, _ in
                try await withProxy(.gateway(port: shelf.port)) { proxy in
                    try await Browser.run { browser in
                        let audio = "document.getElementById('audio')"
                        func waitForRequest(_ beginning: String) async throws {
                            try await waitUntil(beginning) {
                                proxy.record.requests.contains { $0.hasPrefix(beginning) }
                            }
                        }
                        try await browser.open("http://127.0.0.1:\(proxy.port)/books/demo/40111")
                        try await browser.click("\(Self.row(1)) .play")
                        try await browser.wait(until: "!document.querySelector('[data-do=next]').disabled")
                        let isMarked: Bool = try await browser.evaluate("window.isTheSame = true")
                        #expect(isMarked)

                        shelf.product.send(signal: SIGKILL)
                        _ = try await shelf.product.result()
                        try await browser.wait(for: "The server does not answer", in: "#trouble")
                        try await browser.click("#nav a[href='/runs']")
                        try await waitForRequest("GET /runs ")
                        try await browser.click("\(Self.row(3)) [formaction$='/fetch']")
                        try await waitForRequest("POST /api/v1/fetch ")
                        try await browser.click("[data-do=next]")
                        try await browser.wait(until: "\(audio).error")
                        try await waitForRequest("HEAD /media/")
                        try await browser.wait(for: "The server does not answer", in: "#trouble")

                        try await bench.serve(port: shelf.port, environment: bench.configured) { _ in
                            try await browser.wait(
                                until: "navigator.mediaSession.metadata?.title.startsWith('第002集')"
                                    + " && !\(audio).error && \(audio).currentTime > 0")
                            try await browser.wait(until: "document.getElementById('trouble').hidden")
                            try await browser.click("#nav a[href='/runs']")
                            try await browser.wait(until: "location.pathname === '/runs' && window.isTheSame")
                        }
                    }
                }
            }
        }

        @Test func `where the user stopped while the server was away is noted when it is back`() async throws {
            try await Self.withShelf { bench, shelf, _ in
                try await Browser.run { browser in
                    let audio = "document.getElementById('audio')"
                    try await browser.open("\(shelf.address)/books/demo/40111")
                    try await browser.click("\(Self.row(1)) .play")
                    try await browser.wait(until: "\(audio).currentTime > 0.3")
                    shelf.product.send(signal: SIGKILL)
                    _ = try await shelf.product.result()
                    try await browser.click("[data-do=toggle]")
                    try await browser.wait(until: "\(audio).paused")
                    let place: Double = try await browser.evaluate("\(audio).currentTime")
                    try await bench.serve(port: shelf.port, environment: bench.configured) { shelf in
                        try await waitUntil("the position is noted") {
                            let body = try await shelf.send("/api/v1/positions/demo/40111/5000000001").body
                            return abs(try JSONDecoder().decode(Standing.self, from: Data(body)).seconds - place) < 0.01
                        }
                    }
                }
            }
        }

        @Test func `of two devices none loses what was heard on the other`() async throws {
            try await Self.withShelf { _, shelf, _ in
                let path = "/api/v1/positions/demo/40111/5000000001"
                func standing() async throws -> Double {
                    try JSONDecoder().decode(Standing.self, from: Data(try await shelf.send(path).body)).seconds
                }
                try await Browser.run(.init(languages: "en")) { phone in
                    func listen(from seconds: Double) async throws {
                        let _: Bool = try await phone.evaluate(
                            "(audio => { audio.currentTime = \(seconds); return true })(document.getElementById('audio'))"
                        )
                        try await phone.wait(until: "document.getElementById('audio').currentTime > \(seconds)")
                        try await phone.click("[data-do=toggle]")
                        try await phone.wait(until: "document.getElementById('audio').paused")
                    }
                    func hearElsewhere(_ seconds: Double) async throws {
                        let position = """
                            {"position": {"source": "demo", "book_id": "40111", "id": "5000000001", "seconds": \(seconds)}}
                            """
                        let answer = try await shelf.send(
                            "/api/v1/position", method: "POST",
                            ["Content-Type: application/json", "Content-Length: \(position.utf8.count)"], body: position
                        )
                        #expect(answer.status == 200)
                    }
                    // However long this takes, nobody was away.
                    try await phone.prepareEach("Date.now = () => 0;")
                    try await phone.open("\(shelf.address)/books/demo/40111")
                    try await phone.click("\(Self.row(1)) .play")
                    try await phone.wait(until: "document.getElementById('audio').currentTime > 0")
                    try await listen(from: 2)
                    try await waitUntil("the position is noted") { try await standing() > 2 }
                    // Pressing play asks the server.
                    try await hearElsewhere(9)
                    try await phone.click("[data-do=toggle]")
                    try await phone.wait(until: "document.getElementById('audio').currentTime >= 9")
                    // While it plays here, somebody goes on there, and is asked for where to go on.
                    try await hearElsewhere(40)
                    try await phone.click("[data-do=toggle]")
                    try await phone.wait(until: "!document.getElementById('player-elsewhere').hidden")
                    #expect(try await standing() == 40)
                    #expect(try await phone.text(of: "#player-elsewhere span") == "Another device is at 0:40.")
                    try await phone.click("[data-do=here]")
                    try await waitUntil("this device's word counts") { (9..<40) ~= (try await standing()) }
                    try await phone.click("[data-do=toggle]")
                    try await phone.wait(until: "!document.getElementById('audio').paused")
                    try await hearElsewhere(50)
                    try await phone.click("[data-do=toggle]")
                    try await phone.wait(until: "!document.getElementById('player-elsewhere').hidden")
                    try await phone.click("[data-do=there]")
                    try await phone.wait(until: "document.getElementById('audio').currentTime >= 50")
                    // Whoever is further on has heard the rest, and is not asked.
                    try await phone.click("[data-do=toggle]")
                    try await phone.wait(until: "!document.getElementById('audio').paused")
                    try await hearElsewhere(20)
                    try await phone.click("[data-do=toggle]")
                    try await waitUntil("the position further on is noted") { try await standing() >= 50 }
                    #expect(try await phone.evaluate("document.getElementById('player-elsewhere').hidden"))
                }
            }
        }

        @Test func `after a pause some of it is heard again, the more the longer one was away`() async throws {
            try await Self.withShelf { _, shelf, _ in
                try await Browser.run { browser in
                    let audio = "document.getElementById('audio')"
                    func leave(for hours: Int, at seconds: Int) async throws {
                        let _: Bool = try await browser.evaluate("(\(audio).currentTime = \(seconds), true)")
                        try await browser.click("[data-do=toggle]")
                        // The audio is paused before the page has heard of it and noted since when.
                        try await browser.wait(
                            until: "document.querySelector('[data-do=toggle] use').getAttribute('href') === '#i-play'")
                        let _: Bool = try await browser.evaluate("(window.away = \(hours * 3_600_000), true)")
                    }
                    func expectPlace(_ seconds: Range<Double>) async throws {
                        let place: Double = try await browser.evaluate("\(audio).currentTime")
                        #expect(seconds ~= place, "\(place)")
                    }
                    try await browser.prepareEach(
                        "window.away = 0; const now = Date.now; Date.now = () => now() + window.away;")
                    try await browser.open("\(shelf.address)/books/demo/40111")
                    try await browser.click("\(Self.row(1)) .play")
                    try await browser.wait(until: "\(audio).currentTime > 0")
                    try await leave(for: 48, at: 40)
                    try await browser.click("[data-do=toggle]")
                    try await expectPlace(10..<40)
                    try await browser.wait(until: "!\(audio).paused")
                    // Also when it was noted by an earlier page; whoever says where to go on is there at once.
                    try await leave(for: 0, at: 45)
                    try await waitUntil("the position is noted") {
                        let body = try await shelf.send("/api/v1/positions/demo/40111/5000000001").body
                        return try JSONDecoder().decode(Standing.self, from: Data(body)).seconds >= 45
                    }
                    try await browser.open("\(shelf.address)/books/demo/40111")
                    let _: Bool = try await browser.evaluate("(window.away = 7_200_000, true)")
                    try await browser.click("\(Self.row(1)) .play")
                    try await browser.wait(until: "\(audio).currentTime > 1")
                    try await expectPlace(25..<45)
                    try await leave(for: 48, at: 5)
                    try await browser.click("[data-do=forward]")
                    try await browser.click("[data-do=toggle]")
                    try await expectPlace(20..<50)
                }
            }
        }

        private struct Standing: Decodable {
            var seconds: Double
        }

        @Test func `all can be done without a script`() async throws {
            try await Self.withShelf { _, shelf, tap in
                tap.allow(60_000)
                try await Browser.run(.init(languages: "en", width: 360, height: 740, runsScripts: false)) { browser in
                    func wait(for text: String, in selector: String) async throws {
                        try await browser.wait(for: text, in: selector, reloading: true)
                    }
                    try await browser.open("\(shelf.address)/books/demo/40111")
                    try await wait(for: "Not here", in: Self.row(2))
                    try await browser.click("\(Self.row(1)) audio")
                    try await browser.click("\(Self.row(2)) [formaction$='/fetch']")
                    try await wait(for: "Downloading", in: Self.row(2))
                    try await browser.click("\(Self.row(2)) [formaction$='/pause']")
                    try await wait(for: "Paused", in: Self.row(2))
                    tap.open()
                    try await browser.click("\(Self.row(2)) [formaction$='/resume']")
                    try await wait(for: "On disk", in: Self.row(2))
                    try await browser.click("\(Self.row(2)) summary")
                    try await browser.click("\(Self.row(2)) [formaction$='/remove']")
                    try await wait(for: "Removed", in: Self.row(2))
                    try await browser.type("夜航\(Browser.Key.enter.rawValue)", into: "#q")
                    try await wait(for: "夜航", in: "h1")
                    #expect(try await browser.complaints().filter { !$0.contains("favicon") } == [])
                }
            }
        }

        @Test(arguments: ["/", "/books/demo/40111", "/books/demo/40111/5000000001", "/runs", "/subscriptions"])
        func `what did not change stays in its place when a page is looked at again`(page: String) async throws {
            try await Self.withShelf(fetching: "1-2") { bench, shelf, _ in
                #expect(try await bench.run("subscribe", "demo:40111").exitCode == 0)
                try await Browser.run { browser in
                    try await browser.open("\(shelf.address)\(page)")
                    // A button that went away between press and release would not be pressed.
                    let count: Int = try await browser.evaluate(
                        """
                        (document.addEventListener("shown", () => { window.wasShown = true }),
                         window.kept = [...document.querySelectorAll("main *")],
                         document.dispatchEvent(new Event("visibilitychange")), window.kept.length)
                        """)
                    #expect(count > 5)
                    try await browser.wait(until: "window.wasShown === true")
                    let gone: [String] = try await browser.evaluate(
                        "window.kept.filter(e => !e.isConnected).map(e => e.outerHTML.slice(0, 80))")
                    #expect(gone == [])
                }
            }
        }

        @Test(arguments: [("zh-CN,zh", 360, true), ("zh-CN,zh", 1280, false), ("en", 360, false), ("en", 1280, true)])
        func `every page fits its window`(languages: String, width: Int, isDark: Bool) async throws {
            try await Self.withShelf(fetching: "1-2") { bench, shelf, _ in
                let long =
                    String(repeating: "很长的书名", count: 12) + " AndAWordThatIsNowhereBroken"
                    + String(repeating: "x", count: 60)
                _ = try await bench.run("subscribe", "demo:40111", "--title", long)
                try await Browser.run(.init(languages: languages, width: width, height: 740, isDark: isDark)) {
                    browser in
                    let pages = [
                        "/", "/books/demo/40111", "/books/demo/40111?state=finished", "/books/demo/40111/5000000001",
                        "/queue",
                        "/search?q=%E5%A4%9C%E8%88%AA", "/search?q=%3C%22%27%3E", "/runs", "/subscriptions",
                        "/discover",
                        "/doctor", "/login",
                    ]
                    for page in pages {
                        try await browser.open(shelf.address + page)
                        try await Self.expectTidy(browser, page)
                        let isNamed: Bool = try await browser.evaluate(
                            """
                            document.documentElement.lang.startsWith('\(languages.prefix(2))') && document.querySelector('h1')
                              && [...document.querySelectorAll('button, a, input:not([type=hidden]), select, summary, progress')]
                                .filter(e => e.checkVisibility()).every(
                                e => e.ariaLabel || e.labels?.length || e.textContent.trim() || e.ariaHidden)
                            """)
                        #expect(isNamed, "\(page)")
                    }
                    try await browser.open("\(shelf.address)/nothing")
                    #expect(try await browser.evaluate("document.querySelector('h1').innerText.length > 3"))
                    _ = try await browser.complaints()
                }
            }
        }
    }
}
