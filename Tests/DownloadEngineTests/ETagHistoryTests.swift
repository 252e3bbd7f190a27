import BookModel
import Testing

@testable import DownloadEngine

@Suite struct ETagHistoryTests {
    /// Tag and modification time of each answer.
    typealias Answer = (tag: String?, modified: String?)

    @Test(
        arguments: [
            ([], false), ([("a", "1")], false), ([("a", "1"), ("a", "1")], false),
            // A file that was changed has another time too.
            ([("a", "1"), ("b", "2")], false), ([("a", nil), ("b", nil)], false), ([("a", "1"), ("b", nil)], false),
            ([("a", "1"), ("b", "1")], true), ([("a", "1"), (nil, "1"), ("b", "1")], true),
            ([("a", nil), ("b", nil), ("a", nil)], true), ([(nil, "1"), (nil, "2"), (nil, "3")], false),
        ] as [([Answer], Bool)])
    func `case 8: tags that differ from answer to answer are told from a changed file`(
        answers: [Answer], isUnsteady: Bool
    ) {
        var history = ETagHistory()
        for answer in answers {
            history.record(ContentValidator(entityTag: answer.tag, lastModified: answer.modified))
        }
        #expect(history.areUnsteady == isUnsteady)
    }
}
