import BookModel
import Testing

@testable import Languages

@Suite struct WordingsTests {
    @Test func `every wording has the parts of its English, and no others`() {
        for (english, chinese) in Wordings.chinese {
            #expect(parts(of: english) == parts(of: chinese), "\(english) → \(chinese)")
        }
    }

    private func parts(of wording: String) -> [String] {
        wording.matches(of: /\{[0-9]+\}/).map { String($0.0) }.sorted()
    }

    @Test func `what the table lacks is said in English`() {
        let known: Message = "\("x.yaml") is valid"
        let unknown: Message = "nobody has translated \(1) of these"
        #expect(Wordings(.english)(known) == "x.yaml is valid")
        #expect(Wordings(.chinese)(known) == "x.yaml 有效")
        #expect(Wordings(.chinese)(unknown) == "nobody has translated 1 of these")
        #expect(Wordings(.chinese).isForeign(unknown))
        #expect(!Wordings(.chinese).isForeign(known))
    }
}
