import BookModel
import Support
import Testing

@testable import Transport

@Suite struct AddressReferenceTests {
    /// RFC 3986 §5.4, but for references with a fragment, which is not sent.
    @Test(arguments: [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"),
        ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"),
        ("../../", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"),
        ("../../../../g", "http://a/g"),
        ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
    ])
    func `the standard's examples lead where it says`(reference: String, address: String) {
        #expect(ResourceAddress("http://a/b/c/d;p?q").resolving(reference)?.secretText == address)
    }

    @Test(arguments: [
        ("[1] a.mp3", "http://a/b/[1]%20a.mp3"), ("01:02.mp3", "http://a/b/01:02.mp3"),
        ("第 1.mp3", "http://a/b/%E7%AC%AC%201.mp3"),
        ("%B5%da[].mp3?a[]=1", "http://a/b/%B5%da[].mp3?a[]=1"), ("a//b/./c", "http://a/b/a//b/c"),
        ("HTTP://x/ y/../z#f", "HTTP://x/ y/../z#f"), ("//user:p@x:81", "http://user:p@x:81"), (" x ", "http://a/b/x"),
    ])
    func `what is written goes out as it is written`(reference: String, address: String) {
        #expect(ResourceAddress("http://a/b/index.html#top").resolving(reference)?.secretText == address)
    }

    @Test func `an address without a path has a root, and nothing leads nowhere`() {
        #expect(ResourceAddress("http://a").resolving("x")?.secretText == "http://a/x")
        #expect(ResourceAddress("http://a?q").resolving("x")?.secretText == "http://a/x")
        #expect(ResourceAddress("http://a/").resolving("#x") == nil)
        #expect(ResourceAddress("http://a/").resolving(" ") == nil)
    }

    @Test(arguments: [
        ("http://a/三体 [1]/", "HTTPS://u:p@A:443/./x/../%e4%B8%89%E4%BD%93%20%5b1%5D/#part"),
        ("http://a", "http://a:80/"), ("http://a:8080/~b", "http://a:8080/%7Eb"),
        ("http://a/?x=1&y=2", "http://a/?x=1&amp;y=2"),
        ("http://a/f?", "http://a/f"), ("http://[::1]:80/f", "http://[::1]/f"),
    ])
    func `spellings of an address have one normal form`(one: String, other: String) {
        #expect(ResourceAddress(one).normalForm == ResourceAddress(other).normalForm)
    }

    @Test(arguments: [
        ("http://a/b", "http://a/B"), ("http://a/b", "http://a/b/"), ("http://a/b%2Fc", "http://a/b/c"),
        ("http://a/?x=1%262", "http://a/?x=1&2"), ("http://a:81/", "http://a/"), ("http://a/b?c", "http://a/b%3Fc"),
        ("http://a/%25e4", "http://a/%e4"), ("http://a/b+c", "http://a/b%2Bc"), ("http://a//b", "http://a/b"),
    ])
    func `what may mean something else has another one`(one: String, other: String) {
        #expect(ResourceAddress(one).normalForm != ResourceAddress(other).normalForm)
    }
}
