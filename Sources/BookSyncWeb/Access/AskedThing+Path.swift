extension AskedThing {
    /// - Parameters:
    ///   - parts: of the path, behind the base path.
    ///   - isPost: whether something is to change.
    init(at parts: [String], isPost: Bool) {
        switch (parts.first, parts.count) {
        case ("login", 1), ("static", 2...): self = .door
        case ("apps", _): self = .appsDocument
        case ("api", 3...) where isPost: self = ShelfAction(rawValue: parts[2])?.isOwn == true ? .ownCall : .call
        case ("api", 3...) where ["queue", "subscriptions", "runs", "events"].contains(parts[2]):
            self = .libraryDocument
        case ("api", _): self = isPost ? .call : .document
        case ("subscriptions.opml", 1) where !isPost: self = .libraryDocument
        case ("feeds", _), ("media", _), ("catalog", _), ("covers", _): self = .document
        case ("actions", 2) where isPost && ["login", "logout"].contains(parts[1]): self = .doorForm
        case ("actions", 2) where isPost && ShelfAction(rawValue: parts[1])?.isOwn == true: self = .ownForm
        case ("queue", _), ("subscriptions", _), ("runs", _), ("doctor", _): self = isPost ? .form : .libraryPage
        // What is not known changes something, as far as anybody can tell.
        default: self = isPost ? .form : .page
        }
    }
}
