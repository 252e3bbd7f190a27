import BookModel
import CatalogStore
import Foundation
import Support
import Testing

@Suite(.limitedConcurrency) struct ExportRecordTests {
    private func file(_ path: String, kind: String = "opf", digest: Character = "a") -> ExportedFile {
        ExportedFile(path: path, book: veterinary, kind: kind, sha256: String(repeating: digest, count: 64))
    }

    @Test func `what was exported is remembered until it is forgotten`() async throws {
        try await withStore { store async throws in
            _ = try await store.merge(samples(1...1), startingAt: 0, of: veterinary)
            try await store.recordExport(file("a/metadata.opf"))
            try await store.recordExport(file("a/x.m3u8", kind: "m3u8"))
            var changed = file("a/metadata.opf", digest: "b")
            changed.previous = String(repeating: "a", count: 64)
            changed.origin = "http://a.example/c.jpg"
            try await store.recordExport(changed)
            #expect(try await store.exportedFile(at: "a/metadata.opf") == changed)
            #expect(try await store.exportedFiles(of: veterinary, kind: "opf") == [changed])
            try await store.forgetExport(at: "a/metadata.opf")
            #expect(try await store.exportedFile(at: "a/metadata.opf") == nil)
            #expect(try await store.exportedFiles(of: veterinary, kind: "m3u8").count == 1)
        }
    }

    @Test func `nothing is recorded of a book that is not known`() async throws {
        try await withStore { store async throws in
            let failure = try await failure { try await store.recordExport(file("a")) }
            #expect(failure?.kind == .defect)
        }
    }

    @Test func `a file is booksync's own by what was written last or before`() {
        var record = file("a")
        record.previous = String(repeating: "b", count: 64)
        #expect(record.wrote(String(repeating: "a", count: 64)))
        #expect(record.wrote(String(repeating: "b", count: 64)))
        #expect(!record.wrote(String(repeating: "c", count: 64)))
    }
}
