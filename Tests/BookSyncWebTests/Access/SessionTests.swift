import BookModel
import Foundation
import Testing

@testable import BookSyncWeb

/// What is signed, and where the keys for it are kept.
@Suite struct SessionTests {
    private static let keys = ServeKeys.make()
    private static let print: [UInt8] = [1, 2, 3]
    private static let now: Int64 = 1_800_000_000

    private static func read(
        _ cookie: String, keys: ServeKeys = keys, print: [UInt8] = print, now: Int64 = now
    ) -> Session? {
        Session(cookie: cookie, signedWith: keys, for: { $0 == 0 ? print : $0 == 7 ? [7] : nil }, now: now)
    }

    @Test func `a session is good until it expires, for its password and its library alone`() throws {
        let session = Session.begin(now: Self.now)
        let cookie = session.cookie(signedWith: Self.keys, for: Self.print)
        #expect(session.expiry == Self.now + 30 * 86_400)
        // 128 bits, in base64.
        #expect(session.identity.utf8.count == 22)
        #expect(Session.name(of: Self.keys).count == 8)
        #expect(Self.read(cookie) == session)
        #expect(Self.read(cookie, now: session.expiry - 1) == session)
        #expect(Self.read(cookie, now: session.expiry) == nil)
        #expect(Self.read(cookie, keys: .make()) == nil)
        #expect(Self.read(cookie, print: [1, 2, 4]) == nil)
        // A clock that was set back makes nothing last longer.
        #expect(Self.read(cookie, now: Self.now - 1) == nil)
        var keys = Self.keys
        keys.end(session.identity, until: session.expiry, now: Self.now)
        #expect(Self.read(cookie, keys: keys) == nil)
    }

    @Test func `no change of a cookie makes another one`() {
        let cookie = Session.begin(now: Self.now).cookie(signedWith: Self.keys, for: Self.print)
        for index in cookie.indices {
            var altered = cookie
            altered.replaceSubrange(index...index, with: cookie[index] == "A" ? "B" : "A")
            #expect(Self.read(altered) == nil)
            #expect(Self.read(String(cookie[..<index])) == nil)
        }
        let browser = Session.browserCookie("b", signedWith: Self.keys)
        for forged in [cookie + "A", cookie + ".", "." + cookie, browser, "..", "", cookie + cookie, "a.+1.b"] {
            #expect(Self.read(forged) == nil)
        }
        #expect(Session.browser(browser, signedWith: Self.keys) == "b")
        #expect(Session.browser(browser, signedWith: .make()) == nil)
        #expect(Session.browser(cookie, signedWith: Self.keys) == nil)
        #expect(Session.browser("b.", signedWith: Self.keys) == nil)
    }

    @Test func `a user's session is theirs, as long as there is such a user and their password`() {
        let session = Session.begin(7, now: Self.now)
        let cookie = session.cookie(signedWith: Self.keys, for: [7])
        #expect(Self.read(cookie) == session)
        #expect(Self.read(session.cookie(signedWith: Self.keys, for: [8])) == nil)
        #expect(Self.read(Session.begin(8, now: Self.now).cookie(signedWith: Self.keys, for: [7])) == nil)
        // Neither becomes another's, nor the owner's.
        let parts = cookie.split(separator: ".").map(String.init)
        #expect(Self.read("\(parts[0]).\(parts[1]).0.\(parts[3])") == nil)
        #expect(Self.read("\(parts[0]).\(parts[1]).\(parts[3])") == nil)
        #expect(Self.read("\(parts[0]).\(parts[1]).07.\(parts[3])") == nil)
    }

    @Test func `the form's token is the session's own, and without one the browser's`() {
        func token(_ session: Session?, _ visit: String) -> String {
            Session.formToken(of: session, visit: visit, signedWith: Self.keys)
        }
        let (one, other) = (Session.begin(now: Self.now), Session.begin(now: Self.now))
        #expect(Set([token(one, "a"), token(other, "a"), token(nil, "a"), token(nil, "b")]).count == 4)
        #expect(token(one, "a") == token(one, "b") && token(nil, one.identity) != token(one, "a"))
    }

    // MARK: Keys

    @Test func `keys are read as they are written, and shown to nobody`() throws {
        var keys = ServeKeys.make()
        keys.end("one", until: Self.now + 5, now: Self.now)
        let again = try #require(ServeKeys(fileBytes: try keys.fileBytes))
        #expect(again == keys && keys.apps.utf8.count == 27)
        var dumped = ""
        dump(keys, to: &dumped)
        #expect(!(dumped + "\(keys)\(String(reflecting: keys))").contains(keys.apps))
        let apps = keys.apps
        keys.rotateApps()
        #expect(keys.apps != apps && keys.session == again.session)
    }

    @Test(arguments: [
        "", "{}", "booksync serve 1\nsession a\napps b\n",
        #"{"session":[1,2],"apps":"AAAAAAAAAAAAAAAAAAAAAAAAAAA","ended":{}}"#,
        #"{"session":[\#(Array(repeating: "7", count: 32).joined(separator: ","))],"apps":"AAAA","ended":{}}"#,
        #"{"session":[\#(Array(repeating: "7", count: 32).joined(separator: ","))],"apps":"AAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#,
    ])
    func `what is no file of keys is none`(_ text: String) {
        #expect(ServeKeys(fileBytes: Array(text.utf8)) == nil)
    }

    @Test func `too many logouts end all sessions, and the file stays small`() {
        var keys = ServeKeys.make()
        let before = keys.session
        for number in 0..<ServeKeys.maxCount { keys.end("\(number)", until: Self.now + 1, now: Self.now) }
        #expect(keys.session == before && keys.ended.count == ServeKeys.maxCount)
        keys.end("more", until: Self.now + 1, now: Self.now)
        #expect(keys.session != before && keys.ended.isEmpty)
        for number in 0..<ServeKeys.maxCount { keys.end("\(number)", until: Self.now + 1, now: Self.now) }
        // Those that expired need not be kept in mind.
        keys.end("more", until: Self.now + 9, now: Self.now + 2)
        #expect(keys.ended == ["more": Self.now + 9])
    }
}
