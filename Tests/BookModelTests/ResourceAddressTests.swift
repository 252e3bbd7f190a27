import BookModel
import Testing

@Suite struct ResourceAddressTests {
    @Test(arguments: [
        ("http://a.example/b.mp3", "http://a.example/b.mp3"),
        ("http://a.example:8080/b.mp3", "http://a.example:8080/b.mp3"),
        ("http://[::1]:8080/b.mp3", "http://[::1]:8080/b.mp3"),
        ("//a.example/b.mp3", "//a.example/b.mp3"),
        ("http://a.example/@me/b@c.mp3", "http://a.example/@me/b@c.mp3"),
        ("http://a.example/第1集.mp3", "http://a.example/第1集.mp3"),
        ("b.mp3", "b.mp3"),
        ("", ""),
        (
            "http://a.example/?bookId=30776&pageNum=1&PAGESIZE=50",
            "http://a.example/?bookId=30776&pageNum=1&PAGESIZE=50"
        ),
    ])
    func `what is no secret is shown`(text: String, shown: String) {
        #expect(ResourceAddress(text).withoutSecrets == shown)
    }

    @Test(arguments: [
        ("http://me:word@a.example/b", "http://a.example/b"),
        ("http://word@a.example/b", "http://a.example/b"),
        ("http://me:w@rd@a.example/b", "http://a.example/b"),
        ("//me:word@a.example", "//a.example"),
        ("http://me:wo/rd@a.example/b", "http://***"),
        ("http://me:80:word/b", "http://***"),
        ("http://me:80word/b", "http://***"),
        ("http://me:wo?rd@a.example/b", "http://***"),
        ("http://me:wo#rd@a.example/b", "http://***"),
        ("me:word@a.example/b", "a.example/b"),
        ("http://a.example/b?token=word", "http://a.example/b?token=***"),
        ("http://a.example/b?id=7&Signature=word&x", "http://a.example/b?id=7&Signature=***&***"),
        ("http://a.example/b?id=7;token=word", "http://a.example/b?id=7&token=***"),
        ("http://a.example/b?word", "http://a.example/b?***"),
        ("http://a.example/b?token=a=word", "http://a.example/b?token=***"),
        ("http://a.example/b?to%6ben=word", "http://a.example/b?to%6ben=***"),
        ("http://a.example/b?u=http://x/?id=word", "http://a.example/b?u=***"),
        ("http://a.example/b#word", "http://a.example/b"),
        ("http://a.example/b?id=7#word", "http://a.example/b?id=7"),
    ])
    func `what may be a secret is not`(text: String, shown: String) {
        let address = ResourceAddress(text)
        #expect(address.withoutSecrets == shown)
        #expect("\(address)" == shown)
        #expect(String(reflecting: address) == shown)
        #expect(!"\([address] as [ResourceAddress?])".contains("word"))
        var dumped = ""
        dump(address, to: &dumped)
        #expect(!dumped.contains("word"))
    }

    @Test func `two addresses are the same only when their secrets are`() {
        #expect(ResourceAddress("http://a/?token=1") != ResourceAddress("http://a/?token=2"))
    }
}
