import CLibXML2
import Testing

@Suite struct LibXML2LinkTests {
    @Test func `libxml2 is linked and parses a document`() throws {
        let text = "<rss version=\"2.0\"><channel/></rss>"
        let document = try #require(xmlReadMemory(text, CInt(text.utf8.count), nil, nil, 0))
        defer { xmlFreeDoc(document) }
        let root = try #require(xmlDocGetRootElement(document))
        #expect(String(cString: root.pointee.name) == "rss")
    }
}
