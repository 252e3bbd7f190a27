import BookModel
import BookSync

/// Something that went wrong: what, why, and what to do next.
struct TroubleView: ViewModel {
    var what: String
    var why: String
    var next: String?
}

extension ShelfPages {
    private struct LoginView: ViewModel {
        var trouble: String?
        /// Where the visitor wanted to go.
        var back: String
    }

    /// The form that asks for the password.
    /// - Parameter trouble: why the last try did not succeed.
    func loginPage(_ request: Request) throws -> Page {
        let phrases = phrases(for: request)
        let trouble: Phrase? =
            switch request.query["trouble"] {
            case "password": .wrongPassword
            case "throttled": .tooManyTries
            default: nil
            }
        let view = LoginView(
            trouble: trouble.map { phrases($0) }, back: Self.way(back: request.query["return"], request.places))
        return try page(.logIn, view, with: "login", for: request, isLive: false)
    }

    /// A path of our own, or the shelf: nobody is sent elsewhere.
    static func way(back address: String?, _ places: PagePlaces) -> String {
        guard let address, address.hasPrefix(places.shelf), !address.hasPrefix("//"),
            address.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") })
        else { return places.shelf }
        return address
    }

    /// A page that says what went wrong.
    /// - Parameter status: of the answer (HTTP).
    package func page(of failure: Failure, status: Int, for request: Request) throws -> Page {
        let phrases = phrases(for: request)
        let view =
            switch status {
            case 404:
                TroubleView(what: phrases(.missingPage), why: phrases(.missingPageWhy), next: nil)
            case 401, 403:
                TroubleView(
                    what: phrases(.refusedPage),
                    why: request.visitor.mayChange ? phrases(.refusedWhy) : phrases(.readOnly), next: phrases(.tryAgain)
                )
            default:
                TroubleView(
                    what: phrases(.failedPage), why: "\(failure.what): \(failure.why)",
                    next: failure.remedy ?? phrases(.askLater))
            }
        return try page(.failedPage, named: view.what, view, with: "trouble", for: request, status: status)
    }
}
