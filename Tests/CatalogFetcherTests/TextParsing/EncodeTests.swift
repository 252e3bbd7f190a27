import Testing

@testable import CatalogFetcher

@Suite struct EncodeTests {
    @Test(
        arguments: [
            ("… → é 集x", "ASCII", Array("... -> ? ?x".utf8)), ("第1集", "GB18030", [0xB5, 0xDA, 0x31, 0xBC, 0xAF]),
            ("é集", "ISO-8859-1", [0xE9, 0x3F]), ("", "ASCII", []), ("第", "UTF-8", Array("第".utf8)),
        ] as [(String, String, [UInt8])])
    func `a text is converted, and what an encoding lacks is replaced`(text: String, name: String, bytes: [UInt8]) {
        #expect(encode(text, in: name) == bytes)
    }

    @Test func `an encoding that nobody knows converts nothing`() {
        #expect(encode("x", in: "KLINGON-7") == nil)
    }
}
