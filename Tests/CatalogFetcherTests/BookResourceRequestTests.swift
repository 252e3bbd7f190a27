import BookModel
import NIOHTTP1
import Testing
import Transport

@testable import CatalogFetcher

@Suite struct BookResourceRequestTests {
    private var settings: BookResourceSettings {
        var settings = BookResourceSettings("http://catalog.example")
        settings.credentials.query = [
            ("imei", "867 5309"), ("nwt", "1"), ("q", "114"), ("sortType", "0"), ("token", "a+b/c=中文"),
            ("pageNum", "99"), ("bookId", "1"),
        ]
        settings.credentials.alsoSecret = ["header-secret"]
        return settings
    }

    @Test func `the query is percent-encoded and our own parameters override configured ones`() {
        let request = BookResourceRequest.page(2, of: "30776", settings: settings).wireRequest
        #expect(
            request.address.secretText
                == "http://catalog.example/yyting/bookclient/ClientGetBookResource.action?imei=867%205309&nwt=1&q=114"
                + "&sortType=0&token=a%2Bb%2Fc%3D%E4%B8%AD%E6%96%87&pageNum=2&bookId=30776&pageSize=50")
        #expect(request.headers.isEmpty)
        #expect(!"\(request.address)".contains("a%2Bb"))
    }

    /// `printf '%s' '/yyting/…/ClientGetBookResource.action?bookId=30776&imei=867 5309&nwt=1&pageNum=2&pageSize=50`
    /// `&q=114&sortType=0&token=a+b/c=中文s3cr3t' | md5sum`
    @Test(arguments: [(2, "187c15b650f525c90099825596000088"), (3, "2d2ddc139ffbb65093e0afcea95a1cc7")])
    func `each page is signed by itself`(page: Int, signature: String) {
        var settings = settings
        settings.signature = .init(secret: Secret("s3cr3t"))
        settings.credentials.query.append(("sc", "fixed"))
        let request = BookResourceRequest.page(page, of: "30776", settings: settings)
        #expect(request.parameters.filter { $0.name == "sc" }.map(\.value) == [signature])
    }

    @Test func `without a secret a fixed signature goes as it is`() {
        var settings = settings
        settings.credentials.query.append(("sc", "fixed"))
        let request = BookResourceRequest.page(2, of: "30776", settings: settings)
        #expect(request.parameters.filter { $0.name == "sc" }.map(\.value) == ["fixed"])
    }

    @Test func `a query in the configured address is kept`() {
        var settings = settings
        settings.listAddress = ResourceAddress("http://catalog.example/list?a=%26&token=old#top")
        settings.credentials.query = [("token", "new")]
        #expect(
            BookResourceRequest.page(1, of: "7", settings: settings).wireRequest.address.secretText
                == "http://catalog.example/list?a=%26&token=new&bookId=7&pageNum=1&pageSize=50")
    }

    @Test func `settings print no value`() {
        var settings = settings
        settings.signature = .init(secret: Secret("s3cr3t"))
        settings.listAddress = ResourceAddress("http://user:pass@catalog.example/list?key=topsecret")
        var dumped = ""
        dump(settings, to: &dumped)
        for text in ["\(settings)", String(reflecting: settings), dumped, "\([settings])"] {
            for secret in ["s3cr3t", "867", "a+b", "header-secret", "pass@", "topsecret"] {
                #expect(!text.contains(secret))
            }
        }
    }
}
