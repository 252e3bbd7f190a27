import BookModel
import BookSync
import Foundation
import Testing

@testable import BookSyncWeb

@Suite struct StringsTests {
    private let english = Strings(.english)
    private let chinese = Strings(.chinese)

    @Test(arguments: Language.allCases)
    func `a language has every phrase`(language: Language) {
        #expect(Strings(language).missing == [])
        for phrase in Phrase.allCases { #expect(!Strings(language)(phrase).isEmpty, "\(phrase)") }
    }

    @Test(arguments: Language.allCases)
    func `a language has a word for each keyword`(language: Language) {
        let states = SeenState.allCases.map { "state.\($0.rawValue)" }
        let failures = Failure.Kind.allCases.map { "failure.\($0.keyword)" }
        let findings = Finding.Status.allCases.map { "finding.\($0.rawValue)" }
        let checks = [
            "configuration", "library", "store", "lock", "locking", "renaming", "disk", "space", "leftovers", "sources",
            "subscriptions",
        ].map { "check.\($0)" }
        for name in states + failures + findings + checks {
            #expect(Strings(language).text(named: name)?.isEmpty == false, "\(name)")
        }
    }

    private static func names(in text: String) -> Set<String> {
        Set(text.matches(of: /\{(\w+)\}/).map { String($0.output.1) })
    }

    @Test(arguments: Phrase.allCases)
    func `a phrase has the same values to fill in, in each language`(phrase: Phrase) {
        #expect(Self.names(in: english(phrase)) == Self.names(in: chinese(phrase)))
    }

    @Test(arguments: [(30 * 86_400.0, "30 days"), (86_400, "1 day"), (7200, "2 h")])
    func `a question before a deletion says how long the trash keeps the file`(seconds: Double, shown: String) {
        let visitor = Visitor(
            language: .english, formToken: "", mayChange: true, keepsPositions: false, isLoggedIn: false)
        let maker = ViewMaker(
            phrases: english, routes: ShelfAddresses(root: ""), visitor: visitor, isRunUnderWay: false,
            keptInTrash: seconds
        )
        #expect(maker.words(of: .deleteQuestion).hasSuffix("The trash keeps it for \(shown)."))
    }

    @Test func `counts have a form for one and a form for others`() {
        #expect(english(.countBooks, count: 1) == "1 book")
        #expect(english(.countBooks, count: 0) == "0 books")
        #expect(english(.countEpisodes, count: 1_234_567) == "1,234,567 episodes")
        #expect(chinese(.countEpisodes, count: 1) == "1 集")
        #expect(chinese(.countEpisodes, count: 2000) == "2,000 集")
    }

    @Test(arguments: [
        (0.0, "0:00"), (59.4, "0:59"), (61, "1:01"), (3599.6, "1:00:00"), (36_610, "10:10:10"), (-5, "0:00"),
        (.infinity, "277777:46:40"), (.nan, "0:00"),
    ])
    func `lengths are written as players do`(seconds: Double, expected: String) {
        #expect(english.clock(seconds) == expected)
    }

    @Test func `spans and sizes are written in the language`() {
        #expect(english.span(7805) == "2 h 10 min" && chinese.span(7805) == "2 小时 10 分")
        #expect(english.span(41) == "41 s" && chinese.span(41) == "41 秒")
        #expect(english.bytes(118_900_000) == "118.9 MB")
    }

    @Test func `days are written in the language`() {
        var parts = DateComponents(year: 2026, month: 11, day: 5, hour: 8, minute: 2)
        parts.calendar = Calendar(identifier: .gregorian)
        let date = parts.date ?? .distantPast
        #expect(english.time(date) == "5 Nov 2026, 08:02")
        #expect(chinese.time(date) == "2026年11月5日 08:02")
    }

    @Test func `a value is put in as it is, whatever it looks like`() {
        #expect(english(.actionOf, ["action": "Play", "name": "x"]) == "Play: x")
        #expect(english(.saidFinished, ["name": "<b>$1\\"]) == "<b>$1\\: on disk")
    }
}
