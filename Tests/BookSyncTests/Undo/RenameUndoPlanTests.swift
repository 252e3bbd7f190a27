import BookModel
import CatalogStore
import Foundation
import Testing

@testable import BookSync

@Suite struct RenameUndoPlanTests {
    private static func identity(_ section: Int) -> EpisodeIdentity {
        EpisodeIdentity(book: BookIdentity(source: "kting", id: "1"), key: "id\(section)")
    }

    private static func rename(
        _ section: Int, _ from: String, _ to: String, at path: String? = nil, hasFile: Bool = true
    ) -> FileOperation {
        var file = LocalFile(
            episode: identity(section), path: from, size: 1000, sha256: "ab", modificationTime: 50,
            inode: UInt64(section), fetchedAt: Date(timeIntervalSince1970: 0), verification: .length)
        let before = file
        file.path = path ?? to
        return FileOperation(
            number: Int64(section), kind: .rename, state: .done, batch: Date(timeIntervalSince1970: 0),
            section: section,
            name: "\(section)", title: "", file: before, to: to, current: hasFile ? file : nil)
    }

    private static func facts(
        _ inode: UInt64, size: Int64 = 1000, time: Int64 = 50, kind: FileAttributes.Kind = .file
    ) -> FileAttributes {
        FileAttributes(size: size, modificationTime: time, inode: inode, kind: kind)
    }

    private func undone(_ renames: [FileOperation], _ files: [String: FileAttributes]) -> [String] {
        RenameUndoPlan(renames, files: files).renames.map { "\($0.to) → \($0.file.path)" }
    }

    private func left(_ renames: [FileOperation], _ files: [String: FileAttributes]) -> [String] {
        RenameUndoPlan(renames, files: files).left.map { "\($0.operation.section): \($0.reason)" }
    }

    @Test func `renames are taken back, in an order in which none overwrites another`() {
        #expect(undone([Self.rename(1, "a", "b")], ["b": Self.facts(1)]) == ["b → a"])
        // 1 went from a to b, and 2 from b to c.
        let chain = [Self.rename(1, "a", "b"), Self.rename(2, "b", "c")]
        #expect(undone(chain, ["b": Self.facts(1), "c": Self.facts(2)]) == ["b → a", "c → b"])
        let swap = [Self.rename(1, "a", "b"), Self.rename(2, "b", "a")]
        #expect(undone(swap, ["b": Self.facts(1), "a": Self.facts(2)]).sorted() == ["a → b", "b → a"])
    }

    static let changed: [(FileOperation, [String: FileAttributes], String)] = [
        (rename(1, "a", "b", hasFile: false), [:], "it has no file any more"),
        (rename(1, "a", "b", at: "c"), ["c": facts(1)], "it was moved since, and is at c"),
        (rename(1, "a", "b"), [:], "its file is not at b any more"),
        (rename(1, "a", "b"), ["b": facts(1, kind: .folder)], "a folder stands at b"),
        (rename(1, "a", "b"), ["b": facts(1, size: 999)], "the file at b was changed since"),
        (rename(1, "a", "b"), ["b": facts(9, time: 51)], "the file at b was changed since"),
        (rename(1, "a", "b"), ["b": facts(1), "a": facts(9)], "something else stands at a"),
    ]

    @Test(arguments: changed)
    func `what was changed since, or has no place, is left and named`(
        _ rename: FileOperation, _ files: [String: FileAttributes], _ reason: String
    ) {
        #expect(undone([rename], files).isEmpty)
        #expect(left([rename], files) == ["1: \(reason)"])
        let plan = RenameUndoPlan([rename], files: files)
        #expect(plan.left.first?.isForGood == (files["a"] == nil))
    }

    @Test func `a file that was only touched, or copied to another disk with its times, is the same`() {
        #expect(undone([Self.rename(1, "a", "b")], ["b": Self.facts(1, time: 99)]) == ["b → a"])
        #expect(undone([Self.rename(1, "a", "b")], ["b": Self.facts(9)]) == ["b → a"])
    }

    @Test func `who waits for a place that is not left stays as well`() {
        let chain = [Self.rename(1, "a", "b"), Self.rename(2, "b", "c")]
        let files = ["a": Self.facts(9), "b": Self.facts(1), "c": Self.facts(2)]
        #expect(undone(chain, files).isEmpty)
        #expect(left(chain, files) == ["1: something else stands at a", "2: something else stands at b"])
    }

    @Test func `a place that is recorded as another episode's is not free, whatever became of that one's file`() {
        let chain = [Self.rename(1, "a", "b"), Self.rename(2, "b", "c")]
        let plan = RenameUndoPlan(
            chain, files: ["b": Self.facts(1), "c": Self.facts(2)], recorded: ["a", "b", "c"])
        #expect(plan.renames.isEmpty)
        #expect(
            plan.left.map { "\($0.reason)" } == [
                "a is another file's place until the next run", "something else stands at b",
            ])
    }
}
