import Testing

@testable import BookSyncWeb

/// Who may have what.
@Suite struct AccessDecisionTests {
    private static func proof(_ change: (inout RequestCredentials) -> Void) -> RequestCredentials {
        var proof = RequestCredentials()
        change(&proof)
        return proof
    }

    @Test(arguments: [
        (Route.login, AccessDecision.allow), (.page, .logIn), (.document, .unproven), (.appsDocument, .nothing),
        (.call, .unproven),
    ])
    func `where there is a password, what is asked for without one`(_ asked: Route, _ expected: AccessDecision) {
        #expect(AccessDecision.decide(asked, RequestCredentials(), asksWhoComes: true) == expected)
        let tokens = Self.proof { $0.hasFormToken = true }
        #expect(AccessDecision.decide(asked, tokens, asksWhoComes: true) == expected)
    }

    @Test func `what changes nothing needs no proof that one of our pages asked for it`() {
        #expect(Route.allCases.filter(\.changes) == [.loginForm, .form, .call, .ownCall, .ownForm])
    }

    @Test(arguments: [Route.login, .page, .document, .call])
    func `a session or the token is let through, and where there is no password everybody`(_ asked: Route) {
        for proof in [Self.proof { $0.hasSession = true }, Self.proof { $0.hasToken = true }] {
            #expect(AccessDecision.decide(asked, proof, asksWhoComes: true) == .allow)
        }
        #expect(AccessDecision.decide(asked, RequestCredentials(), asksWhoComes: false) == .allow)
    }

    @Test(arguments: Route.allCases)
    func `who sees some books only has the shelf and their own, and nothing that concerns the library`(
        _ asked: Route
    ) {
        let limited = RequestCredentials(
            hasSession: true, origin: .own, hasFormToken: true, hasAppsKey: true, isLimited: true)
        let isAllowed: Bool =
            switch asked {
            case .login, .loginForm, .page, .document, .appsDocument, .ownCall, .ownForm: true
            case .call, .form, .libraryPage, .libraryDocument: false
            }
        #expect(AccessDecision.decide(asked, limited, asksWhoComes: true) == (isAllowed ? .allow : .limited))
    }

    @Test func `the apps' key opens what is below it, and nothing else does`() {
        let right = Self.proof { $0.hasAppsKey = true }
        for asks in [true, false] {
            #expect(AccessDecision.decide(.appsDocument, right, asksWhoComes: asks) == .allow)
            let others = RequestCredentials(hasSession: true, hasToken: true, origin: .own, hasFormToken: true)
            #expect(AccessDecision.decide(.appsDocument, others, asksWhoComes: asks) == .nothing)
        }
        for asked in [Route.page, .document, .call] {
            #expect(AccessDecision.decide(asked, right, asksWhoComes: true) != .allow)
        }
    }

    @Test func `a form that proves nothing is refused`() {
        #expect(AccessDecision.decide(.form, RequestCredentials(), asksWhoComes: false) == .refuse)
    }

    /// What changes something, by whom it was sent, whether the form's token is right, and whether that is good.
    @Test(arguments: [
        (Route.form, RequestOrigin.own, false, true), (.form, .own, true, true), (.form, .foreign, true, false),
        (.form, .foreign, false, false), (.form, .hidden, true, true), (.form, .hidden, false, false),
        (.form, .notStated, true, true), (.form, .notStated, false, false), (.call, .own, false, true),
        (.call, .foreign, true, false), (.call, .hidden, true, false), (.call, .notStated, false, true),
        (.loginForm, .own, false, true), (.loginForm, .foreign, true, false), (.loginForm, .hidden, false, false),
        (.loginForm, .hidden, true, true), (.loginForm, .notStated, false, false), (.loginForm, .notStated, true, true),
    ])
    func `what changes something comes from a page of ours, or from no browser`(
        _ asked: Route, _ origin: RequestOrigin, _ hasToken: Bool, _ isGood: Bool
    ) {
        for isIn in [true, false] {
            let proof = RequestCredentials(hasSession: isIn, hasToken: isIn, origin: origin, hasFormToken: hasToken)
            #expect(AccessDecision.decide(asked, proof, asksWhoComes: false) == (isGood ? .allow : .refuse))
            let wanted: AccessDecision =
                !isGood ? .refuse : isIn || asked == .loginForm ? .allow : asked == .form ? .logIn : .unproven
            #expect(AccessDecision.decide(asked, proof, asksWhoComes: true) == wanted)
        }
    }

    @Test(
        arguments: [
            ([], [], RequestOrigin.notStated), (["null"], [], .hidden), (["http://nas:8731"], [], .own),
            (["HTTP://NAS:8731"], [], .own), (["http://nas"], [], .foreign), (["https://nas:8731"], [], .foreign),
            (["http://nas:8731.evil.example"], [], .foreign), ([""], [], .foreign),
            (["http://nas:8731/"], [], .foreign),
            (["http://nas:8731", "http://evil.example"], [], .foreign), (["null"], ["same-origin"], .own),
            ([], ["same-origin"], .own), ([], ["cross-site"], .foreign), ([], ["same-site"], .foreign),
            ([], ["none"], .foreign), (["http://nas:8731"], ["cross-site"], .foreign),
            ([], ["same-origin", "cross-site"], .foreign), ([], ["same-origin, cross-site"], .foreign),
        ] as [([String], [String], RequestOrigin)])
    func `where a request was made is what the browser tells`(
        _ origins: [String], _ sites: [String], _ expected: RequestOrigin
    ) {
        #expect(RequestOrigin(origins: origins, sites: sites, own: ["http://nas:8731"]) == expected)
    }
}
