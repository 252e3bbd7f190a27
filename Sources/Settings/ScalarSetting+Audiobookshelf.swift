import BookModel

// The Audiobookshelf server that serves the same folder.

extension ScalarSetting {
    static let audiobookshelfURL = ScalarSetting(
        key: "notify.audiobookshelf.url", expected: "an http or https address without user, query and fragment"
    ) { settings, text, _ in
        settings.notify.audiobookshelf = text.isEmpty ? nil : text
        return text.isEmpty || isServerAddress(text)
    } shown: {
        .text($0.notify.audiobookshelf ?? "")
    }

    static let audiobookshelfToken = ScalarSetting(
        key: "notify.audiobookshelf.token", expected: "an API token, of visible ASCII characters", isSecret: true
    ) { settings, text, _ in
        settings.notify.audiobookshelfToken = text.isEmpty ? nil : Secret(text)
        return text.utf8.count <= 4096 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    } shown: {
        .text($0.notify.audiobookshelfToken?.description ?? "")
    }

    static let audiobookshelfLibrary = ScalarSetting(
        key: "notify.audiobookshelf.library", expected: "a library's id, as its address in Audiobookshelf ends"
    ) { settings, text, _ in
        settings.notify.audiobookshelfLibrary = text.isEmpty ? nil : text
        return text.utf8.count <= 100 && text.utf8.allSatisfy(\.isUnreserved)
    } shown: {
        .text($0.notify.audiobookshelfLibrary ?? "")
    }
}
