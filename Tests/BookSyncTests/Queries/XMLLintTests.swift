import BookModel
import Foundation
import Support
import Testing

@testable import BookSync
@testable import Settings

/// What another program thinks of our XML, where it is installed.
@Suite(.limitedConcurrency) struct XMLLintTests {
    @Test(.needs("xmllint"), arguments: [ExportKind.opf, .rss])
    func `xmllint accepts it`(kind: ExportKind) async throws {
        try await withTemporaryPath { (folder: String) async throws in
            var book = ExportDocumentTests.sample()
            // Every character that has no business in a name.
            book.book.title =
                String(String.UnicodeScalarView((0..<0x300).compactMap(Unicode.Scalar.init)))
                + "\u{FFFE}\u{FFFF}]]><!--&amp;"
            let file = folder + "/x.xml"
            try Data(try book.document(kind, at: folder + "/a\u{1}b.xml")).write(to: URL(filePath: file))
            let executable = try #require(ForeignProgram.path("xmllint"))
            let result = try await withProduct(
                ["--noout", "--nonet", file], in: URL(filePath: folder), executable: executable
            ) { try await $0.result() }
            #expect(result.exitCode == 0, "\(result.errors)")
        }
    }
}
