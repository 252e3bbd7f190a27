import BookModel
import Foundation
import Testing

@testable import CatalogFetcher

@Suite struct BookResourceElementTests {
    private let catalog = ResourceAddress("https://catalog.example:8443/yyting/bookclient/List.action?token=x")

    private func episode(_ json: String, position: Int = 77) throws -> Episode {
        let element = try #require(BookResourceElement(try JSONReader.read(Array(json.utf8))))
        let key = try #require(element.key)
        return element.episode(
            identity: EpisodeIdentity(book: testBook, key: key), position: position, catalog: catalog)
    }

    @Test(arguments: [
        ("7", "7"), ("7.0", "7"), (#""7""#, "7"), (#"" 7 ""#, "7"), ("9007199254740993", "9007199254740993"),
        (#""9223372036854775807""#, "9223372036854775807"), ("18446744073709551615", "18446744073709551615"),
        (#""a-b""#, "a-b"), ("0", "section-12"), ("null", "section-12"), (#""""#, "section-12"), ("[]", "section-12"),
    ])
    func `the key is the id exactly, else the section`(id: String, key: String) throws {
        #expect(try episode(#"{"id":\#(id),"section":12}"#).identity.key == key)
    }

    @Test(arguments: [
        ("12", 12), (#""12""#, 12), ("12.0", 12), ("0", 0), ("-1", 77), ("null", 77), ("1e30", 77), ("12000000", 77),
    ])
    func `the section is the catalog's where it is sensible, else the place`(json: String, section: Int) throws {
        #expect(try episode(#"{"id":1,"section":\#(json)}"#).section == section)
    }

    @Test func `an address that is none of the web is told of, and not fetched`() throws {
        let page = #"{"status":0,"sections":2,"list":[{"id":1,"path":"file:///etc/passwd"},{"id":2,"path":null}]}"#
        let contents = try BookResourceSettings(listAddress: catalog).read(
            CatalogResponse(bytes: Array(page.utf8)), source: "mine", id: "1")
        #expect(contents.episodes.map(\.isLocked) == [true, true])
        #expect(
            contents.listing.proof.warnings.map(\.description) == [
                "page 1 lists 1 episode with an address that cannot be fetched"
            ])
    }

    @Test(
        arguments: [
            ("null", nil), (#""""#, nil), (#"" ""#, nil), ("7", nil), (#""null""#, nil),
            (#""http:\/\/a.example:81\/x.mp3""#, "http://a.example:81/x.mp3"),
            (#""//a.example/x.mp3""#, "https://a.example/x.mp3"),
            (#""ftp://a.example/x.mp3""#, nil), (#""file:///etc/passwd""#, nil), (#""javascript:alert(1)""#, nil),
            (#""http:/ftp://a.example/x.mp3""#, nil), (#""http:///x.mp3""#, nil),
            (#""\/asdb\/x.mp3""#, "https://catalog.example:8443/asdb/x.mp3"),
            (#""x.mp3?a=b""#, "https://catalog.example:8443/yyting/bookclient/x.mp3?a=b"),
            (#""\ufeffhttp://a.example/第3集.mp3 ""#, "http://a.example/第3集.mp3"),
            (#""http://a.example/a b.m4a?sign=x%2By""#, "http://a.example/a b.m4a?sign=x%2By"),
        ] as [(String, String?)])
    func `the path becomes a whole address, or none`(path: String, address: String?) throws {
        let episode = try episode(#"{"id":1,"state":-2,"path":\#(path)}"#)
        #expect(episode.address?.secretText == address)
        #expect(episode.isLocked == (address == nil))
    }

    @Test(
        arguments: [
            ("0", nil), ("-1", nil), ("9223372036854775808", nil), ("2199023255552", nil), ("1.5", nil), ("{}", nil),
            ("9913859", 9_913_859), ("15000000.0", 15_000_000), (#""4800001""#, 4_800_001),
        ] as [(String, Int64?)])
    func `an absurd size is none`(json: String, size: Int64?) throws {
        #expect(try episode(#"{"id":1,"size":\#(json)}"#).size == size)
    }

    @Test(
        arguments: [
            ("0", nil), ("-5", nil), ("1000000000000", nil), ("1e400", nil), (#""1200""#, 1200), ("1239.5", 1239.5),
        ] as [(String, Double?)])
    func `an absurd length is none`(json: String, duration: Double?) throws {
        #expect(try episode(#"{"id":1,"length":\#(json)}"#).duration == duration)
    }

    @Test func `times are milliseconds`() throws {
        let episode = try episode(#"{"id":1,"lastModify":1414531859000,"onlineTime":"1414531859500"}"#)
        #expect(episode.modifiedAt == Date(timeIntervalSince1970: 1_414_531_859))
        #expect(episode.publishedAt == Date(timeIntervalSince1970: 1_414_531_859.5))
        #expect(try self.episode(#"{"id":1,"lastModify":0,"onlineTime":9223372036854775807}"#).publishedAt == nil)
    }

    @Test func `what the catalog does not say is nil`() throws {
        let episode = try episode(#"{"id":1}"#)
        let bare = Episode(
            identity: EpisodeIdentity(book: testBook, key: "1"), section: 77, name: "")
        #expect(episode == bare)
    }

    @Test func `of duplicate members the last wins`() throws {
        #expect(try episode(#"{"id":1,"name":"a","id":2,"name":"b"}"#).identity.key == "2")
    }

}
