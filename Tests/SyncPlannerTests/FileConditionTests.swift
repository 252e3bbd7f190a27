import BookModel
import Testing

@testable import SyncPlanner

/// How a recorded file compares with what is on disk.
@Suite struct FileConditionTests {
    private let old = "Book/old.mp3"
    private let wanted = "Book/7.mp3"

    /// Recorded at the old path with 1000 bytes, time 50 and inode 7; the naming wants another path.
    private func condition(_ files: [String: FileAttributes], owners: [String: String] = [:]) -> FileCondition {
        let shelved = Situation().fetched(at: old).shelved
        return FileCondition(of: shelved, wanted: wanted, files: files, owners: [old: "id7"].merging(owners) { $1 })
    }

    private func intact(at path: String, touched: Bool = false) -> FileCondition {
        var file = Situation().fetched(at: old).shelved.file!
        file.path = path
        return .intact(file, touched: touched, recordedPath: old)
    }

    private var missing: FileCondition { .missing(Situation().fetched(at: old).shelved.file!) }

    @Test func `a file at its recorded path is what its kind, size and time say`() {
        #expect(condition([old: facts()]) == intact(at: old))
        #expect(condition([old: facts(time: 51)]) == intact(at: old, touched: true))
        #expect(condition([old: facts(size: 999)]).existingFile?.path == old)
        #expect(condition([old: facts(kind: .folder)]).existingFile == nil)
        #expect(condition([:]) == missing)
    }

    @Test func `a file is found at its wanted path only as the same file, with its size and nobody else's`() {
        #expect(condition([wanted: facts()]) == intact(at: wanted))
        #expect(condition([wanted: facts(time: 51)]) == intact(at: wanted, touched: true))
        #expect(condition([wanted: facts(inode: 8)]) == missing)
        #expect(condition([wanted: facts(size: 999)]) == missing)
        #expect(condition([wanted: facts(kind: .symbolicLink)]) == missing)
        #expect(condition([wanted: facts()], owners: [wanted: "id8"]) == missing)
    }

    @Test func `a path that another episode's record has is not this one's`() {
        #expect(condition([old: facts()], owners: [old: "id8"]) == missing)
        #expect(
            FileCondition(of: Situation().shelved, wanted: wanted, files: [wanted: facts()], owners: [:]) == .unrecorded
        )
    }
}
