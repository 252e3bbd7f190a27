import Testing

@testable import BookModel

@Suite struct LanguageTests {
    @Test(
        arguments: [
            ([:], Language.english), (["LANG": "zh_CN.UTF-8"], .chinese), (["LANG": "zh_TW.utf8@x"], .chinese),
            (["LANG": "zh"], .chinese), (["LANG": "C"], .english), (["LANG": "de_DE.UTF-8"], .english),
            (["LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_GB.UTF-8"], .english),
            (["LANG": "en_GB.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8"], .chinese),
            (["LC_ALL": "C", "LC_MESSAGES": "zh_CN.UTF-8"], .english),
            (["LC_ALL": "", "LANG": "zh_CN.UTF-8"], .chinese),
            // What goes into files and pipes is UTF-8, which a program of that locale cannot read.
            (["LANG": "zh_CN.GB18030"], .english), (["LANG": "zh_CN.GB18030", "BOOKSYNC_LANG": "zh"], .chinese),
            (["LANG": "zh_CN.UTF-8", "BOOKSYNC_LANG": "en"], .english),
            (["LANG": "zh_CN.UTF-8", "BOOKSYNC_LANG": "tlh"], .chinese),
        ] as [([String: String], Language)])
    func `the language of a process`(environment: [String: String], expected: Language) {
        #expect(Language(environment: environment) == expected)
    }

    @Test(
        arguments: [
            ([:], nil), (["LANG": "C"], "ASCII"), (["LC_ALL": "POSIX", "LANG": "zh_CN.UTF-8"], "ASCII"),
            (["LANG": "C.UTF-8"], nil), (["LANG": "zh_CN.UTF-8"], nil), (["LANG": "zh_CN"], nil),
            (["LANG": "zh_CN.GB18030"], "GB18030"),
            (["LANG": "C", "LC_CTYPE": "de_DE.ISO-8859-15@euro"], "ISO-8859-15"),
        ] as [([String: String], String?)])
    func `the encoding of a terminal`(environment: [String: String], expected: String?) {
        #expect(Language.encoding(environment: environment) == expected)
    }
}
