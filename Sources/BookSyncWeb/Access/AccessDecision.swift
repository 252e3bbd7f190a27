/// What a request asks for, as far as it matters who may have it.
package enum Route: Sendable, Hashable, CaseIterable {
    /// The page to log in at, and what pages are dressed with: nothing of the shelf.
    case login
    /// The forms that log in and out.
    case loginForm
    /// A page for people.
    case page
    /// What programs ask for: documents, feeds, audio, pictures, events.
    case document
    /// Feeds and audio below the key of the apps.
    case appsDocument
    /// A form that changes something.
    case form
    /// An action of the API.
    case call
    /// What a user does for themselves alone: positions, marks, bookmarks; by the API, and by a form.
    case ownCall
    case ownForm
    /// Pages, documents and actions that concern the whole library: not for users who may only listen.
    case libraryPage
    case libraryDocument

    /// Whether it is for people, and answered with a page.
    package var isForPeople: Bool {
        switch self {
        case .page, .libraryPage, .form, .ownForm: true
        case .login, .loginForm, .document, .libraryDocument, .appsDocument, .call, .ownCall: false
        }
    }

    /// Whether it comes as a form.
    package var isForm: Bool { [.form, .ownForm, .loginForm].contains(self) }

    /// True if users who may only listen may have it.
    var isForLimited: Bool {
        switch self {
        case .call, .form, .libraryPage, .libraryDocument: false
        case .login, .loginForm, .page, .document, .appsDocument, .ownCall, .ownForm: true
        }
    }

    /// Whether something changes by it.
    package var changes: Bool {
        switch self {
        case .loginForm, .form, .ownForm, .call, .ownCall: true
        case .login, .page, .libraryPage, .document, .libraryDocument, .appsDocument: false
        }
    }
}

/// Where a request was made, as the browser tells.
package enum RequestOrigin: Sendable, Hashable, CaseIterable {
    /// On a page of ours.
    case own
    /// Somewhere else.
    case foreign
    /// The browser keeps it to itself (`Origin: null`): our own pages make it do so with forms, for they allow no referrer,
    /// but other pages can as well.
    case hidden
    /// Nothing is said of it: by no browser, or by an old one.
    case notStated

    /// - Parameters:
    ///   - origins: the values of the Origin field (RFC 6454 §7).
    ///   - sites: those of Sec-Fetch-Site (Fetch Metadata), which no script can set; browsers send it where the server is
    ///     reached by https or on the loopback.
    ///   - own: the server's own origins, as this client names it.
    init(origins: [String], sites: [String], own: [String]) {
        if origins.count > 1 || sites.count > 1 {
            self = .foreign
        } else if let site = sites.first {
            self = site == "same-origin" ? .own : .foreign
        } else if let origin = origins.first {
            self = origin == "null" ? .hidden : own.contains(origin.lowercased()) ? .own : .foreign
        } else {
            self = .notStated
        }
    }
}

/// What a request proves of itself.
package struct RequestCredentials: Sendable, Hashable {
    /// Whether it carries the cookie of a session that has not ended.
    package var hasSession = false
    /// Whether it carries the token of programs.
    package var hasToken = false
    package var origin = RequestOrigin.notStated
    /// Whether the form came with the token that our pages give to this browser.
    package var hasFormToken = false
    /// Whether the path holds the key of the apps.
    package var hasAppsKey = false
    /// True if the user may only listen.
    package var isLimited = false
}

/// What becomes of a request.
package enum AccessDecision: Sendable, Hashable {
    case allow
    /// To the page to log in at (303).
    case logIn
    /// What proves who asks is missing (401).
    case unproven
    /// Not from there (403).
    case refuse
    /// As if there were nothing (404).
    case nothing
    /// Not for users who may only listen (403).
    case limited

    /// - Parameter asksWhoComes: whether there is a password or a token at all.
    package static func decide(_ asked: Route, _ proof: RequestCredentials, asksWhoComes: Bool) -> AccessDecision {
        if asked == .appsDocument { return proof.hasAppsKey ? .allow : .nothing }
        guard !asked.changes || isOurs(asked, proof) else { return .refuse }
        guard asksWhoComes, asked != .login, asked != .loginForm, !proof.hasSession, !proof.hasToken else {
            return proof.isLimited && !asked.isForLimited ? .limited : .allow
        }
        return asked.isForPeople ? .logIn : .unproven
    }

    /// Whether what changes something was sent by a page of ours, or by no browser at all: a program does what its own user
    /// wants, while any page on the web can have a browser send a form.
    private static func isOurs(_ asked: Route, _ proof: RequestCredentials) -> Bool {
        switch proof.origin {
        case .own: true
        case .foreign: false
        case .hidden: asked.isForm && proof.hasFormToken
        case .notStated: !asked.isForm || proof.hasFormToken
        }
    }
}
