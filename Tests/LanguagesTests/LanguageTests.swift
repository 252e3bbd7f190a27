import Testing

@testable import Languages

@Suite struct LanguageTests {
    @Test(
        arguments: [
            ([:], Language.english), (["LANG": "zh_CN.UTF-8"], .chinese), (["LANG": "zh_TW.utf8@x"], .chinese),
            (["LANG": "zh"], .chinese), (["LANG": "C"], .english), (["LANG": "de_DE.UTF-8"], .english),
            (["LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_GB.UTF-8"], .english),
            (["LANG": "en_GB.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8"], .chinese),
            (["LC_ALL": "C", "LC_MESSAGES": "zh_CN.UTF-8"], .english),
            (["LC_ALL": "", "LANG": "zh_CN.UTF-8"], .chinese),
            // What is written is UTF-8, which a terminal of that locale cannot show.
            (["LANG": "zh_CN.GB18030"], .english), (["LANG": "zh_CN.GB18030", "BOOKSYNC_LANG": "zh"], .chinese),
            (["LANG": "zh_CN.UTF-8", "BOOKSYNC_LANG": "en"], .english),
            (["LANG": "zh_CN.UTF-8", "BOOKSYNC_LANG": "tlh"], .chinese),
        ] as [([String: String], Language)])
    func `the language of a process`(environment: [String: String], expected: Language) {
        #expect(Language(environment: environment) == expected)
    }
}
