import BookModel
import Foundation
import Support
import Testing

@testable import DownloadEngine
@testable import LibraryFiles

@Suite struct AudioSignatureTests {
    private static let noise = [UInt8]((0..<600).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) })

    @Test(
        arguments: [
            ("MPEG audio", sampleMP3(bytes: 600)), ("MPEG audio, a frame's head only", [0xFF, 0xFB]),
            ("MPEG 2 audio", [0xFF, 0xF3, 0x40, 0xC0] + noise), ("MPEG 2.5 audio", [0xFF, 0xE3, 0x18, 0xC4] + noise),
            ("ID3", Array("ID3\u{4}\u{0}".utf8) + noise), ("ID3 in text alone", Array("ID3 and nothing else".utf8)),
            ("ADTS", [0xFF, 0xF1, 0x50, 0x80] + noise), ("ADIF", Array("ADIF".utf8) + noise),
            ("MP4", [0, 0, 0, 0x20] + Array("ftypM4A ".utf8) + noise), ("Ogg", Array("OggS\u{0}".utf8) + noise),
            ("FLAC", Array("fLaC".utf8) + noise), ("WAV", Array("RIFF$\u{0}\u{0}\u{0}WAVEfmt ".utf8) + noise),
            ("AMR", Array("#!AMR\n".utf8) + noise), ("wide AMR", Array("#!AMR-WB\n".utf8) + noise),
            ("ASF", [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11, 0xA6, 0xD9] + noise),
            ("Monkey's Audio", Array("MAC ".utf8) + noise), ("WavPack", Array("wvpk".utf8) + noise),
            ("zeros before the first frame", [UInt8](repeating: 0, count: 600)), ("noise", noise), ("nothing", []),
            ("a single byte", [0xFF]),
        ] as [(String, [UInt8])])
    func `audio and what may be audio passes`(what: String, bytes: [UInt8]) {
        #expect(AudioSignature.foreignContent(in: bytes) == nil)
    }

    private static let page = "<!DOCTYPE html>\n<html><head><title>登录</title></head><body>请先登录</body></html>"

    @Test(
        arguments: [
            (page, "an HTML page"), ("\u{FEFF}\r\n  " + page, "an HTML page"), ("<HTML><BODY>", "an HTML page"),
            ("<!-- proxy --><html lang=en>", "an HTML page"),
            (page + String(repeating: "页", count: 300), "an HTML page"),
            ("<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>", "an XML document"),
            ("{\"status\":114,\"msg\":\"downloading too frequently\"}", "a JSON document"),
            ("{\"status\":114,\"msg\":\"下载过于频繁\"}", "a JSON document"), ("[]", "a JSON document"),
            ("系统繁忙", "text"), ("系统繁忙\n", "text"), ("系统繁忙!!", "text"), ("x", "text"), ("404 Not Found\r\n", "text"),
            (String(repeating: "繁忙", count: 100), "text"), ("a" + String(repeating: "繁忙", count: 100), "text"),
            ("ab" + String(repeating: "繁忙", count: 100), "text"), ("%PDF-1.7\n", "a PDF document"),
            ("PK\u{3}\u{4}", "a ZIP archive"), ("#EXTM3U\n#EXTINF:10,\na.mp3\n", "a playlist"),
            ("\u{FEFF}[playlist]\nFile1=http://h/a.mp3", "a playlist"), ("GIF89a\u{1}\u{0}", "an image"),
        ])
    func `what servers send in its place is recognised`(text: String, found: String) {
        #expect(AudioSignature.foreignContent(in: Array(text.utf8))?.description == found)
    }

    @Test func `a page in another encoding is a page all the same`() {
        // 登录 in GBK.
        let head = Array("<html><head><title>".utf8) + [0xB5, 0xC7, 0xC2, 0xBC] + Array("</title>".utf8)
        #expect(AudioSignature.foreignContent(in: head) == "an HTML page")
        #expect(AudioSignature.foreignContent(in: [0x1F, 0x8B, 0x08, 0x00]) == "compressed data")
    }

    @Test func `text holds no control characters but those that lay it out`() {
        for byte in UInt8(0)...0x7F {
            let found = AudioSignature.foreignContent(in: [0x61, byte, 0x61])
            let isText = [0x09, 0x0A, 0x0C, 0x0D].contains(byte) || (0x20...0x7E).contains(byte)
            #expect(found == (isText ? "text" : nil), "\(byte)")
        }
    }

    @Test func `the last character of text may have been cut anywhere, and nothing else`() {
        let start = Array(repeating: UInt8(0x61), count: 508)
        for count in 1...4 {
            #expect(AudioSignature.foreignContent(in: start + Array("😀".utf8).prefix(count)) == "text")
        }
    }

    @Test(
        arguments: [
            // 系统繁忙 in GBK, "déjà" in Latin-1, and markup in UTF-16 with and without a mark.
            ([0xCF, 0xB5, 0xCD, 0xB3, 0xB7, 0xB1, 0xC3, 0xA6], "text"), ([0x64, 0xE9, 0x6A, 0xE0], "text"),
            ([0xFF, 0xFE, 0xFB, 0x7C, 0xDF, 0x7E], "text"), ([0xFE, 0xFF, 0x7C, 0xFB, 0x7E, 0xDF], "text"),
            ("<html>".utf16.flatMap { [UInt8($0), 0] }, "text"), ("<html>".utf16.flatMap { [0, UInt8($0)] }, "text"),
            ([0xFF, 0xD8, 0xFF, 0xE0, 0, 0x10], "an image"), ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A], "an image"),
            // Padding of encoders.
            ([UInt8](repeating: 0xFF, count: 100), nil), ([UInt8](repeating: 0, count: 100), nil),
            ([0x61] + [UInt8](repeating: 0xFF, count: 4), nil), ([0xFF, 0x61], nil), ([0, 0, 0, 1, 0, 2, 0, 3], nil),
            // "Ранняя" in windows-1251.
            ([0xD0, 0xE0, 0xED, 0xED, 0xFF, 0xFF], "text"),
        ] as [([UInt8], String?)])
    func `text is text in any encoding`(bytes: [UInt8], found: String?) {
        #expect(AudioSignature.foreignContent(in: bytes)?.description == found)
    }

    @Test func `audio is known by its signature at its offset`() {
        let known = ["ID3", "OggS", "fLaC", "#!AMR", "ADIF", "MAC ", "wvpk", "RIFF....WAVE", "....ftyp"].map {
            Array($0.utf8)
        }
        let asf: [UInt8] = [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11]
        for head in known + [asf, [0xFF, 0xE0], [0xFF, 0xFF]] { #expect(AudioSignature.isKnownAudio(head), "\(head)") }
        let others: [[UInt8]] = [
            [], [0xFF], [0xFF, 0xDF], [0xFE, 0xE0], [0x00, 0xFF, 0xE0], Array("RIFF....AVI ".utf8),
            Array("JUNK....WAVE".utf8),
            Array("....WAVEWAVE".utf8), Array("ftyp".utf8), Array("...ftyp.".utf8), Array(".ID3".utf8),
            [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x12], [0xFF, 0xFE],
        ]
        for head in others { #expect(!AudioSignature.isKnownAudio(head), "\(head)") }
    }

    @Test func `only the first bytes count`() {
        let binary = [UInt8](repeating: 0x61, count: 511) + [0]
        #expect(AudioSignature.foreignContent(in: binary) == nil)
        let bytes = sampleMP3(bytes: 600) + Array(Self.page.utf8)
        #expect(AudioSignature.foreignContent(in: bytes) == nil)
        let text = [UInt8](repeating: 0x61, count: 512) + Self.noise
        #expect(AudioSignature.foreignContent(in: text) == "text")
    }
}
