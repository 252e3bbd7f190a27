import BookModel
import BookSync
import Foundation
import Settings

/// The shelf in a browser: pages that are whole without a script, made from the store alone.
///
/// What is shown is asked of the store with each request; the script's page and the one without it are the same page.
package struct ShelfPages: Sendable {
    /// A request for a page.
    package struct Request: Sendable {
        /// What the paths of all pages begin with, for this visitor: empty, or with a slash in front and none at its end.
        package var root: String
        /// The path with its query, as it came: where forms lead back to.
        package var address: String
        package var query: [String: String]
        package var visitor: Visitor
        /// As the visitor sees it; where the page is about a book, of the library that has it.
        package var shelf: ServedShelf
        /// Where podcast apps find the feeds, without a password.
        package var apps: ShelfAddresses
    }

    /// As its owner sees it; pages show their request's.
    let wholeShelf: ServedShelf
    let findings: @Sendable (_ asksSources: Bool) async throws -> [Finding]
    private let templates: PageTemplates
    private let phrases: [Language: Strings]

    /// - Parameter findings: what `doctor` finds, with the sources asked or without.
    /// - Throws: ``Failure`` of kind `defect` when a template is none.
    package init(
        _ shelf: ServedShelf, findings: @escaping @Sendable (_ asksSources: Bool) async throws -> [Finding]
    ) throws {
        wholeShelf = shelf
        self.findings = findings
        templates = try PageTemplates()
        phrases = Dictionary(uniqueKeysWithValues: Language.allCases.map { ($0, Strings($0)) })
    }

    // MARK: Making

    func phrases(for request: Request) -> Strings {
        phrases[request.visitor.language] ?? Strings(request.visitor.language)
    }

    func maker(for request: Request, isRunUnderWay: Bool = false) -> ViewMaker {
        ViewMaker(
            phrases: phrases(for: request), routes: request.routes, visitor: request.visitor,
            isRunUnderWay: isRunUnderWay, keptInTrash: wholeShelf.configuration.keptInTrash)
    }

    /// What the script says.
    private static let words: [Phrase] = [
        .saidStarted, .saidFinished, .saidFailed, .saidPaused, .saidCancelled, .saidMany, .saidPlaying, .saidSleep,
        .saidSkipped, .saidElsewhere, .otherDevice, .saidBookmarked, .lostServer, .actionFailed, .failedPage, .bytesOf,
        .perSecond, .timeLeft,
    ]

    private static func words(_ phrases: Strings) -> [(name: String, text: String)] {
        words.map { (name: $0.rawValue, text: phrases($0)) }
            + Failure.Kind.allCases.map { (name: $0.keyword, text: phrases(named: "failure.\($0.keyword)")) }
            + [(name: "state.downloading", text: phrases(named: "state.downloading"))]
    }

    /// What a template makes of a model.
    func part(_ model: Any, with template: String, for request: Request) throws -> String {
        var fields = templateFields(of: model)
        fields["root"] = request.root
        fields["token"] = request.visitor.formToken
        fields["address"] = request.address
        fields["mayChange"] = request.visitor.mayChange
        fields["keepsPositions"] = request.visitor.keepsPositions
        return try templates.render(fields, with: template, in: request.visitor.language)
    }

    /// A whole page around what a template makes of a model.
    func page(
        _ title: Phrase, named name: String? = nil, _ model: Any, with template: String,
        for request: Request, section: Phrase? = nil, status: Int = 200, isLive: Bool = true, isRenewed: Bool = false,
        unanswered: [(place: LibraryPlace, failure: Failure)] = []
    ) throws -> Page {
        let (phrases, visitor, routes) = (phrases(for: request), request.visitor, request.routes)
        let main = try part(model, with: template, for: request)
        let discover = visitor.mayChange ? [(Phrase.discover, routes.root + "/discover")] : []
        let sections: [(Phrase, String)] =
            [(.shelf, routes.root + "/")] + discover + [
                (.queue, routes.root + "/queue"), (.subscriptions, routes.root + "/subscriptions"),
                (.runs, routes.root + "/runs"), (.doctor, routes.root + "/doctor"),
            ]
        let layout = (
            // Of style and script, in their addresses.
            version: StaticFile.version, lang: visitor.language.tag, title: name ?? phrases(title),
            unanswered: unanswered.map { place, failure in
                (
                    sentence: phrases(.libraryUnanswered, ["name": place.name]),
                    // For those who can mend it.
                    detail: visitor.user.isLimited ? nil : phrases(failure.message)
                )
            }, main: main, query: section == .discover ? "" : request.searched, isStill: visitor.user.isLimited,
            isLoggedIn: visitor.isLoggedIn, userName: visitor.user.name, isLive: isLive, isRenewed: isRenewed,
            // Who sees some books only has one section: there is nothing to choose from.
            sections: visitor.user.isLimited
                ? []
                : sections.map {
                    ChoiceView(href: $0.1, label: phrases($0.0), count: nil, isCurrent: $0.0 == section)
                },
            words: isLive ? Self.words(phrases) : []
        )
        return Page(status: status, bytes: Array(try part(layout, with: "layout", for: request).utf8))
    }
}

extension ShelfPages.Request {
    var routes: ShelfAddresses { ShelfAddresses(root: root) }

    /// What is searched for: forms write blanks as plus signs.
    var searched: String {
        (query["q"] ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// nil for what is left empty.
    func chosen(_ name: String) -> String? { query[name].flatMap { $0.isEmpty ? nil : $0 } }
}
