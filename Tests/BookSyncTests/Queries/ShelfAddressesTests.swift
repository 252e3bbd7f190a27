import BookModel
import Foundation
import Testing

@testable import BookSync
@testable import Settings

@Suite struct ShelfAddressesTests {
    @Test func `an address below a root holds nothing of the catalog's addresses`() {
        let addresses = ShelfAddresses(root: "http://127.0.0.1:8731/shelf//")
        let book = BookIdentity(source: "feeds", id: "https://a.example/f.xml?token=SECRET")
        let file = LocalFile(
            episode: EpisodeIdentity(book: book, key: "https://a.example/1.mp3?s=SECRET"), path: "A/B/001 x.M4B",
            size: 1, sha256: "", modificationTime: 0, inode: 0, fetchedAt: .now, verification: .length)
        let audio = addresses.audio(file)
        #expect(audio.hasPrefix("http://127.0.0.1:8731/shelf/media/feeds/~") && audio.hasSuffix(".m4b"))
        #expect(!audio.contains("SECRET") && !audio.contains("%"))
        #expect(addresses.feed(of: book).hasPrefix("http://127.0.0.1:8731/shelf/feeds/feeds/~"))
        let plain = BookIdentity(source: "kting", id: "30776")
        #expect(addresses.feed(of: plain) == "http://127.0.0.1:8731/shelf/feeds/kting/30776.xml")
    }

    @Test(arguments: [
        ("https://books.example/shelf", true), ("http://[::1]:80", true), ("ftp://a.example", false), ("", false),
        ("https://me:secret@a.example", false), ("https://a.example/?x", false), ("https://a.example/#x", false),
    ])
    func `a root is a plain address of the web`(text: String, isOne: Bool) {
        #expect(isServerAddress(text) == isOne)
    }
}
