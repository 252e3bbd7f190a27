import BookModel
import Foundation
import Support
import Testing

@testable import LibraryFiles

@Suite(.limitedConcurrency) struct FolderScanTests {
    @Test func `a scan tells what stands in the folders asked for, and nothing below`() async throws {
        try await withTemporaryPath { path in
            try write("12345", to: path + "/作者/书/001 一.mp3")
            try write("1", to: path + "/作者/书/deeper/x.mp3")
            try write("1", to: path + "/other/y.mp3")
            try write("", to: path + "/root.mp3")
            let facts = try await FolderScan.scan(folders: ["作者/书", "", "missing/far"], under: path)
            #expect(
                Set(facts.keys) == ["作者/书/001 一.mp3", "作者/书/deeper", "作者", "other", "root.mp3"])
            let file = try #require(facts["作者/书/001 一.mp3"])
            var status = stat()
            #expect(stat(path + "/作者/书/001 一.mp3", &status) == 0)
            #expect(file == FileAttributes(status))
            #expect(file.size == 5 && file.kind == .file && file.modificationTime > 1_500_000_000_000_000_000)
            #expect(facts["other"]?.kind == .folder)
        }
    }

    @Test func `symbolic links are reported, never followed`() async throws {
        try await withTemporaryPath { outside in
            try write("secret", to: outside + "/book/a.mp3")
            try await withTemporaryPath { path in
                let files = FileManager.default
                try files.createDirectory(atPath: path + "/real", withIntermediateDirectories: false)
                try files.createSymbolicLink(atPath: path + "/author", withDestinationPath: outside)
                try files.createSymbolicLink(atPath: path + "/real/a.mp3", withDestinationPath: outside + "/book/a.mp3")
                let facts = try await FolderScan.scan(folders: ["author", "author/book", "real"], under: path)
                #expect(Set(facts.keys) == ["author", "real/a.mp3"])
                #expect(facts.values.allSatisfy { $0.kind == .symbolicLink })
            }
        }
    }

    @Test func `a file where a folder should be is reported as a file`() async throws {
        try await withTemporaryPath { path in
            try write("x", to: path + "/Author")
            let facts = try await FolderScan.scan(folders: ["Author/Book"], under: path)
            #expect(facts["Author"]?.kind == .file && facts.count == 1)
        }
    }

    @Test func `a missing library has nothing, and a way out of it is refused`() async throws {
        try await withTemporaryPath { path in
            #expect(try await FolderScan.scan(folders: ["a"], under: path + "/none").isEmpty)
            let failure = try await #require(throws: Failure.self) {
                _ = try await FolderScan.scan(folders: ["../x"], under: path)
            }
            #expect(failure.kind == .inputOutput)
        }
    }

    @Test func `a folder of many files leaves no descriptor open`() async throws {
        try await withTemporaryPath { path in
            for number in 0..<300 { try write("x", to: path + "/book/\(number).mp3") }
            for _ in 0..<2000 {
                let facts = try await FolderScan.scan(folders: ["book/none", "book/1.mp3/x", "none"], under: path)
                #expect(facts.count == 1)
            }
            #expect(try await FolderScan.scan(folders: ["book"], under: path).count == 300)
        }
    }
}
