import BookModel
import Testing

@testable import BookSyncWeb

@Suite struct BrowserLanguageTests {
    /// RFC 9110 §12.5.4.
    @Test(
        arguments: [
            (nil, Language.english), ("", .english), ("zh", .chinese), ("zh-CN,zh;q=0.9,en;q=0.8", .chinese),
            ("en-GB,en;q=0.9,zh;q=0.8", .english), ("en;q=0.3, zh-TW;q=0.5", .chinese), ("ZH-Hant-HK", .chinese),
            ("fr, de;q=0.9", .english), ("fr, zh;q=0.1", .chinese), ("zh;q=0", .english),
            ("zh;q=0, en;q=0.1", .english),
            ("*", .english), ("*;q=0.5, zh;q=0.4", .english), ("*;q=0.1, zh;q=0.4", .chinese),
            ("zh;q=0.5,en;q=0.5", .chinese), ("zho", .english), ("zh;q=1.5", .english),
            ("zh;q=abc, en;q=0.1", .english),
            ("zh;level=1", .english), (" zh ; q=0.7 ,\ten;q=0.6", .chinese), ("zh;Q=1.000", .chinese),
            ("zh;q=0.0001,en;q=0.001", .english), (",,;;,=,zh", .chinese),
            (String(repeating: "fr,", count: 90) + "zh", .english),
        ] as [(String?, Language)])
    func `the best liked language that there is`(field: String?, expected: Language) {
        #expect(Language(acceptLanguage: field) == expected)
    }
}
