import Testing

@testable import BookSyncCLI

@Suite struct ScreenPainterTests {
    @Test func `lines are replaced where they stand, and log lines go above them`() {
        var painter = ScreenPainter()
        var terminal = VirtualTerminal(width: 40)
        terminal.feed("$ booksync fetch\r\n")
        terminal.feed(painter.paint(lines: ["第1集 [=   ]", "0 of 3"], width: 40))
        #expect(terminal.text == ["$ booksync fetch", "第1集 [=   ]", "0 of 3"])
        terminal.feed(painter.paint(lines: ["第1集 [=== ]", "第2集 [    ]", "0 of 3"], width: 40))
        #expect(terminal.text == ["$ booksync fetch", "第1集 [=== ]", "第2集 [    ]", "0 of 3"])
        terminal.feed(painter.paint(log: ["a notice"], lines: ["第2集 [==  ]", "1 of 3"], width: 40))
        #expect(terminal.text == ["$ booksync fetch", "a notice", "第2集 [==  ]", "1 of 3"])
        terminal.feed(painter.paint(lines: [], width: 40))
        #expect(terminal.text == ["$ booksync fetch", "a notice"])
        terminal.feed("done\r\n")
        #expect(terminal.text == ["$ booksync fetch", "a notice", "done"])
        #expect(terminal.oddities == [])
    }

    @Test func `a log line longer than the terminal is wide is kept whole`() {
        var painter = ScreenPainter()
        var terminal = VirtualTerminal(width: 10)
        terminal.feed(painter.paint(lines: ["aaaaaaaaa", "bbbbbbbbb"], width: 10))
        terminal.feed(painter.paint(log: ["0123456789012"], lines: ["c"], width: 10))
        #expect(terminal.text == ["0123456789", "012", "c"])
    }

    @Test func `control characters in a log line are not obeyed`() {
        var painter = ScreenPainter()
        var terminal = VirtualTerminal(width: 40)
        terminal.feed(painter.paint(log: ["\u{1B}[2Jboo\u{7}"], lines: [], width: 40))
        #expect(terminal.text == ["\u{FFFD}[2Jboo\u{FFFD}"])
        #expect(terminal.oddities == [])
    }

    @Test(arguments: [7, 12, 20, 39, 40, 41, 90])
    func `a terminal that changes its width shows the same`(width: Int) {
        var painter = ScreenPainter()
        var terminal = VirtualTerminal(width: 40)
        terminal.feed("before\r\n")
        terminal.feed(painter.paint(lines: [ColoredText(String(repeating: "a", count: 39)), "bb"], width: 40))
        terminal.resize(to: width)
        terminal.feed(painter.paint(lines: ["cc", "dd"], width: width))
        #expect(terminal.text == ["before", "cc", "dd"])
    }

    @Test func `the same number of lines is overwritten without clearing the screen first`() {
        var painter = ScreenPainter()
        _ = painter.paint(lines: ["a", "b"], width: 40)
        #expect(painter.paint(lines: ["c", "d"], width: 40) == "\r\u{1B}[2Ac\u{1B}[K\nd\u{1B}[K\n")
    }
}

extension ColoredText: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) { self.init(text) }
}

@Suite struct ColoredTextTests {
    @Test func `words are coloured, and not the spaces beside them`() {
        var line = ColoredText("第1集  ")
        line.append("  failed  ", .red)
        line.append("\u{1B}[2Jx ")
        #expect(line.text == "第1集    failed  \u{FFFD}[2Jx ")
        line.removeSpacesAtEnd()
        #expect(line.shown(usesColor: true) == "第1集    \u{1B}[31mfailed\u{1B}[0m  \u{FFFD}[2Jx")
        #expect(line.shown(usesColor: false) == line.text)
    }

    @Test(arguments: [("failed: it", "\u{1B}[31mfailed:\u{1B}[0m it"), ("失败：它 又", "\u{1B}[31m失败：\u{1B}[0m它 又")])
    func `the first word ends with a space or a wide colon`(line: String, shown: String) {
        #expect(TerminalColor.red.applied(toFirstWordOf: line) == shown)
    }
}

@Suite struct TerminalCapabilitiesTests {
    @Test(
        arguments: [
            (["TERM": "xterm-256color"], true, false, true, true),
            (["TERM": "xterm", "NO_COLOR": "1"], true, false, true, false),
            (["TERM": "xterm", "NO_COLOR": ""], true, false, true, true),
            (["TERM": "xterm"], true, true, true, false),
            (["TERM": "xterm"], false, false, false, false),
            (["TERM": "dumb"], true, false, false, false),
            ([:], true, false, false, false),
        ] as [([String: String], Bool, Bool, Bool, Bool)])
    func `bars need a terminal that can, colour one that may`(
        environment: [String: String], isTTY: Bool, noColor: Bool, bars: Bool, color: Bool
    ) {
        let detected = TerminalCapabilities.detect(environment: environment, isTTY: isTTY, noColor: noColor)
        #expect(detected == TerminalCapabilities(showsBars: bars, usesColor: color))
    }
}
