import BookModel
import Foundation
import Testing

struct MessageTests {
    private let page: Message = "page \(2) of \("kting:30776") cannot be read"

    @Test func isFoundByItsEnglishWithTheNumbersOfItsParts() {
        #expect(page.wording == "page {1} of {2} cannot be read")
        #expect(page.description == "page 2 of kting:30776 cannot be read")
    }

    @Test func partsGoWhereAnotherLanguageHasThem() {
        #expect(page.text(by: [page.wording: "无法读取 {2} 的第 {1} 页"]) == "无法读取 kting:30776 的第 2 页")
    }

    @Test func whatATableLacksStaysEnglish() {
        #expect(page.text(by: ["none": "无"]) == "page 2 of kting:30776 cannot be read")
    }

    @Test func messagesInMessagesAreTranslatedEach() {
        let table = ["none": "无", "{1}: {2}": "{1}：{2}"]
        let why: Message = "none"
        #expect(("\(page): \(why)" as Message).text(by: table) == "page 2 of kting:30776 cannot be read：无")
    }

    @Test func aMessageIsTranslatedWhenAllInItAre() {
        let table = ["none": "无", "{1}: {2}": "{1}：{2}"]
        #expect(("\(3): \("none" as Message)" as Message).isTranslated(by: table))
        #expect(!("\(3): \(page)" as Message).isTranslated(by: table))
        #expect(!("\(3)" as Message).isTranslated(by: table))
    }

    @Test func bracesOfATextAreNoParts() {
        let name: Message = "no name is called \("{2}"): see {ext}"
        #expect(name.text(by: [name.wording: "没有 {1}，见 {ext}{7}"]) == "没有 {2}，见 {ext}{7}")
        #expect(Message(verbatim: "{1}").description == "{1}")
    }

    @Test func sumsAreOneWording() {
        let whole = page + ", and " + "\(3) more"
        #expect(whole.wording == "page {1} of {2} cannot be read, and {3} more")
        #expect(whole.description == "page 2 of kting:30776 cannot be read, and 3 more")
    }

    @Test func joinedMessagesAreTranslatedEach() {
        let both = (["none", page, "none"] as [Message]).joined(separator: ", ")
        #expect(both.description == "none, page 2 of kting:30776 cannot be read, none")
        #expect(both.text(by: ["none": "无", ", ": "，"]) == "无，page 2 of kting:30776 cannot be read，无")
        #expect(([] as [Message]).joined(separator: ", ") == "")
    }

    @Test func isKeptAndReadBackWhole() throws {
        let time: Message = "not before \(Date(timeIntervalSince1970: 1_700_000_000.25))"
        for message in ["", "none", "\(3)", "\(3)\(4)", page, "\(page): \(time); \(page)", "\("[\"x\"]")"] as [Message]
        {
            let kept = try JSONEncoder().encode(message)
            #expect(
                try JSONDecoder().decode(Message.self, from: kept) == message,
                "\(String(decoding: kept, as: UTF8.self))")
        }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Message.self, from: Data(#"["a", "b"]"#.utf8)) }
    }

    @Test func equalEnglishByOtherPartsIsAnotherMessage() {
        #expect(page != "page 2 of kting:30776 cannot be read")
    }

    @Test func noSpaceStandsBetweenChineseAndChinese() {
        let table = ["from {1} to {2}": "从 {1} 到 {2} 为止", "source {1}": "来源 {1}", "here": "这里"]
        func text(_ first: Message, _ second: Message) -> String {
            ("from \(first) to \(second)" as Message).text(by: table)
        }
        #expect(text("source \("kting")", "here") == "从来源 kting 到这里为止")
        #expect(text("here", Message(verbatim: "kting")) == "从这里到 kting 为止")
        // A name keeps its distance.
        #expect(("from \("夜航船") to \("b")" as Message).text(by: table) == "从 夜航船 到 b 为止")
        #expect(text("\("夜航船") (\(1))", Message(verbatim: "集")) == "从 夜航船 (1) 到 集 为止")
    }
}
