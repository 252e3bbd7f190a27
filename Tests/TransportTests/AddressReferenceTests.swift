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
}
