extension AskedThing {
    /// - Parameters:
    ///   - parts: of the path, behind the base path.
    ///   - isPost: whether something is to change.
    init(at parts: [String], isPost: Bool) {
        switch (parts.first, parts.count) {
        case ("login", 1), ("static", 2...): self = .door
        case ("apps", _): self = .appsDocument
        case ("api", _): self = isPost ? .call : .document
        case ("feeds", _), ("media", _), ("catalog", _), ("covers", _): self = .document
        case ("actions", 2) where isPost && ["login", "logout"].contains(parts[1]): self = .doorForm
        // What is not known changes something, as far as anybody can tell.
        default: self = isPost ? .form : .page
        }
    }
}
