import BookModel
import DownloadEngine
import Foundation
import Support
import Testing

@testable import LibraryFiles

@Suite(.limitedConcurrency) struct LibraryFolderTests {
    @Test func `opening a library makes it, and opening it again changes nothing`() async throws {
        try await withTemporaryPath { path in
            let library = try await LibraryFolder.open(at: path + "/Audiobooks")
            #expect(try await LibraryFolder.open(at: path + "/Audiobooks") == library)
            let found = try FileManager.default.subpathsOfDirectory(atPath: path + "/Audiobooks").sorted()
            #expect(found == [".booksync", ".booksync/partial"])
            #expect(try await library.space().free > 0)
        }
    }

    @Test func `a process may open its library many times at once`() async throws {
        try await withTemporaryPath { path in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<200 { group.addTask { _ = try await LibraryFolder.open(at: path + "/Audiobooks") } }
                try await group.waitForAll()
            }
            let found = try FileManager.default.subpathsOfDirectory(atPath: path + "/Audiobooks").sorted()
            #expect(found == [".booksync", ".booksync/partial"])
        }
    }

    @Test func `a library without its parent folder is refused, because a disk may not be mounted`() async throws {
        try await withTemporaryPath { path in
            let failure = try await #require(throws: Failure.self) {
                _ = try await LibraryFolder.open(at: path + "/disk/Audiobooks")
            }
            #expect(failure.kind == .libraryUnwritable && failure.disposition == .stop)
            #expect(failure.remedy?.description.contains("\(path)/disk") == true)
        }
    }

    @Test(arguments: ["", "/.booksync", "/.booksync/partial"])
    func `a file in the place of a folder is refused`(place: String) async throws {
        try await withTemporaryPath { path in
            try write("not a folder", to: path + "/library" + place)
            let failure = try await #require(throws: Failure.self) {
                _ = try await LibraryFolder.open(at: path + "/library")
            }
            #expect(failure.kind == .libraryUnwritable)
            #expect(failure.why.description.contains("is not a folder"))
        }
    }

    @Test func `the library may be a link to a folder, its own folder may not`() async throws {
        try await withTemporaryPath { path in
            let files = FileManager.default
            try files.createDirectory(atPath: path + "/disk", withIntermediateDirectories: false)
            try files.createSymbolicLink(atPath: path + "/library", withDestinationPath: path + "/disk")
            try files.createSymbolicLink(atPath: path + "/disk/.booksync", withDestinationPath: "/tmp")
            await #expect(throws: Failure.self) { _ = try await LibraryFolder.open(at: path + "/library") }
            try files.removeItem(atPath: path + "/disk/.booksync")
            _ = try await LibraryFolder.open(at: path + "/library")
        }
    }

    @Test(.enabled(if: geteuid() != 0, "root may write everywhere"))
    func `a library that may not be written is refused`() async throws {
        try await withTemporaryPath { path in
            _ = try await LibraryFolder.open(at: path + "/library")
            chmod(path + "/library/.booksync/partial", 0o500)
            defer { chmod(path + "/library/.booksync/partial", 0o700) }
            let failure = try await #require(throws: Failure.self) {
                _ = try await LibraryFolder.open(at: path + "/library")
            }
            #expect(failure.kind == .libraryUnwritable)
        }
    }
}
