import BookModel
import Foundation
import Support
import Testing

@testable import LibraryFiles

@Suite(.limitedConcurrency) struct LibraryLeaseTests {
    private static let holder = LibraryHolder.successor(of: nil, command: "mirror")

    private static var beaten: LibraryHolder {
        var beaten = holder
        beaten.beat += 1
        return beaten
    }

    private static var released: LibraryHolder {
        var released = holder
        released.isReleased = true
        return released
    }

    /// What is seen, after how many seconds, and whether its process is known to be gone.
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var isShared = true
        var looks: [(holder: LibraryHolder?, seconds: Int, isGone: Bool)]
        var decisions: [HolderWatch.Decision]

        var testDescription: String { name }
    }

    private static let cases: [Case] = [
        Case(name: "nobody", looks: [(nil, 0, false)], decisions: [.take(fromSilentHolder: false)]),
        Case(name: "released", looks: [(released, 0, false)], decisions: [.take(fromSilentHolder: false)]),
        Case(
            name: "a disk of this machine, where the kernel's lock tells all", isShared: false,
            looks: [(holder, 0, false)], decisions: [.take(fromSilentHolder: false)]),
        Case(name: "a process that is gone", looks: [(holder, 0, true)], decisions: [.take(fromSilentHolder: false)]),
        Case(name: "one that beats", looks: [(holder, 0, false), (beaten, 9, false)], decisions: [.wait, .held]),
        Case(
            name: "one that beats at the last moment",
            looks: [(holder, 0, false), (holder, 59, false), (beaten, 60, false)], decisions: [.wait, .wait, .held]),
        Case(
            name: "a silent one", looks: [(holder, 5, false), (holder, 64, false), (holder, 65, false)],
            decisions: [.wait, .wait, .take(fromSilentHolder: true)]),
        Case(
            name: "one that ends meanwhile", looks: [(holder, 0, false), (released, 20, false)],
            decisions: [.wait, .take(fromSilentHolder: false)]),
        Case(
            name: "another that came first",
            looks: [(holder, 0, false), (.successor(of: holder, command: "fetch"), 60, false)],
            decisions: [.wait, .held]),
    ]

    @Test(arguments: cases)
    func `a library is taken from a holder that is gone, or silent for a minute`(_ example: Case) {
        var watch = HolderWatch(isSharedDisk: example.isShared)
        let decisions = example.looks.map { watch.decide($0.holder, isGone: $0.isGone, at: .seconds($0.seconds)) }
        #expect(decisions == example.decisions)
    }

    @Test func `what is written of a holder is read again, and its first line always has the same length`() {
        for holder in [Self.holder, Self.beaten, Self.released] {
            #expect(LibraryHolder(bytes: Data(holder.text.utf8)) == holder)
            #expect(holder.stateLine.utf8.count == Self.holder.stateLine.utf8.count)
        }
        #expect(!Self.holder.isKnownToBeGone)
        for text in ["", "held x\n", "pid 1\n", "epoch 1\ntoken a\n"] {
            #expect(LibraryHolder(bytes: Data(text.utf8)) == nil)
        }
    }

    @Test func `each holder has a greater epoch, and one that was followed is told so by every look`() async throws {
        try await withTemporaryPath { path in
            let library = try await LibraryFolder.open(at: path)
            let first = try await LibraryLease.take(library, isSharedDisk: false, command: "first")
            try first.requireHeld()
            // On a disk whose locks reach one machine only the second one comes so far.
            let second = try await LibraryLease.take(library, isSharedDisk: false, command: "second")
            try second.requireHeld()
            let failure = try #require(throws: Failure.self) { try first.requireHeld() }
            #expect(failure.kind == .temporary && failure.disposition == .stop && failure.reason == .takenOver)
            #expect(failure.why.description.contains("'second'"))
            // Neither its end nor a sign of life of the first reaches the file of the second.
            first.release()
            let text = try String(contentsOfFile: library.holderFile, encoding: .utf8)
            #expect(text.hasPrefix("held ") && text.contains("\nepoch 2\n"))
            second.release()
            #expect(try String(contentsOfFile: library.holderFile, encoding: .utf8).hasPrefix("free "))
        }
    }

    @Test func `a holder's file that somebody deleted takes the library from nobody`() async throws {
        try await withTemporaryPath { path in
            let library = try await LibraryFolder.open(at: path)
            let lease = try await LibraryLease.take(library, isSharedDisk: true, command: "first")
            try FileManager.default.removeItem(atPath: library.holderFile)
            try lease.requireHeld()
        }
    }

    @Test func `a file that is renewed keeps its bytes, its mode and its note, and is another file`() throws {
        try withTemporaryFolder { folder in
            let path = folder.appending(path: "a.part").path
            try createFile(at: path, with: Array("abc".utf8), mode: 0o600)
            let old = try opened(path, O_RDWR | O_APPEND)
            defer { close(old) }
            var note = FileNote()
            note[.tag] = "\"there\""
            note[.episode] = " behind a blank"
            let keepsAttributes = note.write(to: old)
            try renewFile(path)
            try writeAll(Array("later".utf8), to: old)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "abc")
            let new = try opened(path, O_RDONLY)
            defer { close(new) }
            var status = stat()
            #expect(fstat(new, &status) == 0 && status.st_mode & 0o777 == 0o600)
            #expect(!keepsAttributes || FileNote(of: new) == note)
            try renewFile(folder.appending(path: "none").path)
        }
    }
}
