import BookModel
import BookSync

/// Something that went wrong: what, why, and what to do next.
struct ErrorView: ViewModel {
    var what: String
    var why: String?
    /// What the failure says of itself, in English.
    var detail: String?
    var next: String?
}

extension ErrorView {
    init(_ failure: Failure, _ phrases: Strings) {
        self.init(
            what: phrases(named: "failure.\(failure.kind.keyword)"), detail: phrases(failure.message),
            next: failure.remedy == nil ? phrases(.askLater) : nil)
    }
}

extension ShelfPages {
    /// The form that asks for the password.
    /// - Parameters:
    ///   - back: where the visitor wanted to go: a path of ours.
    ///   - status: how the last try ended (HTTP); 200 where there was none.
    func loginPage(_ request: Request, back: String, status: Int) throws -> Page {
        let phrases = phrases(for: request)
        let trouble: Phrase? =
            switch status {
            case 403: .wrongPassword
            case 429: .tooManyTries
            default: nil
            }
        let hint: Phrase? =
            switch (request.visitor.hasNames, request.visitor.hasOwner) {
            case (false, _): .logInHint
            case (true, true): .logInNamesHint
            case (true, false): nil
            }
        let view = (
            trouble: trouble.map { phrases($0) }, hasNames: request.visitor.hasNames, hint: hint.map { phrases($0) },
            back: back
        )
        return try page(.logIn, view, with: "login", for: request, status: status, isLive: false)
    }

    /// A page that says what went wrong.
    /// - Parameter status: of the answer (HTTP).
    package func page(of failure: Failure, status: Int, for request: Request) throws -> Page {
        let phrases = phrases(for: request)
        let view =
            switch status {
            case 404: ErrorView(what: phrases(.missingPage), why: phrases(.missingPageWhy))
            case 401, 403:
                ErrorView(
                    what: phrases(.refusedPage),
                    why: request.visitor.mayChange ? phrases(.refusedWhy) : phrases(.readOnly),
                    next: request.visitor.mayChange ? phrases(.tryAgain) : nil)
            default: ErrorView(failure, phrases)
            }
        return try page(.failedPage, named: view.what, view, with: "trouble", for: request, status: status)
    }
}
