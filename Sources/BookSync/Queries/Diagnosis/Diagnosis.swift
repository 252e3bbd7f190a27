import BookModel
import CatalogStore
import Foundation
import LibraryFiles
import Logging
import Settings

extension Configuration {
    /// Looks at everything that a run relies on, and says what is wrong before a run meets it. It changes nothing, holds up no
    /// run that is under way, and asks each catalog server for one book at most.
    /// - Parameters:
    ///   - check: of this configuration.
    ///   - knownLibraries: what is remembered of libraries; nil where nothing can be.
    ///   - asksSources: without it nothing leaves the machine, and nothing is said of the sources.
    /// - Returns: in the order in which a run would meet the things.
    /// - Throws: `CancellationError`.
    package func diagnosed(
        _ check: ConfigurationCheck, knownLibraries: KnownLibraries?, asksSources: Bool, logger: Logger
    ) async throws -> [Finding] {
        var findings = check.findings
        var shelf = Shelf()
        for place in libraries {
            let library = LibraryDiagnosis(
                path: place.path, minFreeSpace: downloads.minFreeSpace, knownLibraries: knownLibraries)
            findings += try await library.findings().map { finding in
                var finding = finding
                if hasSeveralLibraries { finding.check = "\(place.name): \(finding.check)" }
                return finding
            }
            try await shelf.add(.existing(at: place.path))
        }
        shelf.subscriptions = try allSubscriptions(with: shelf.stored)
        findings.append(subscriptionsFinding(shelf))
        guard asksSources else { return findings }
        let sources = SourceDiagnosis(configuration: self, logger: logger)
        let subscribed = shelf.subscriptions.map(\.book).filter { !$0.isCollection }
        findings += try await sources.findings(subscribed: subscribed, others: shelf.books.map(\.identity))
        return findings
    }

    // MARK: Subscriptions

    private func subscriptionsFinding(_ shelf: Shelf) -> Finding {
        let subscriptions = shelf.subscriptions
        let lost = subscriptions.filter { !canBeAsked($0.book) }
        if let first = lost.first {
            return .problem(
                "subscriptions",
                Failure(
                    .configuration,
                    what: lost.count == 1
                        ? "\(first.book) cannot be asked for"
                        : "\(first.book) and \(lost.count - 1) more cannot be asked for",
                    why: lacksAddress(first.book)
                        ? "its address holds a secret, and is not recorded"
                        : "no source is called '\(first.book.source)'",
                    remedy: lacksAddress(first.book)
                        ? "name the whole address once: booksync subscribe ADDRESS records it"
                        : "add the source to the configuration, or booksync unsubscribe \(first.book)"))
        }
        if shelf.isStoreUnreadable {
            return .warning(
                "subscriptions", "those in the store cannot be read; the configuration has \(subscriptions.count)",
                remedy: "see what is said of the store")
        }
        guard !subscriptions.isEmpty else {
            return .ok("subscriptions", "none; booksync subscribe REF adds one")
        }
        let isMirroredByServer = serve.mirrorInterval != nil || !trustsReferences
        if isMirroredByServer, let notice = privacyNotice(of: subscriptions.map(\.book)) {
            return .warning(
                "subscriptions", notice, remedy: "name them in the configuration, as sources or below subscriptions")
        }
        let incomplete = shelf.books.filter { !$0.isComplete }
        if let book = incomplete.first(where: { book in subscriptions.contains { $0.book == book.identity } }) {
            return .warning(
                "subscriptions", "the last listing of \(book.name) was incomplete: episodes may be missing",
                remedy: "booksync catalog \(book.identity) shows what is listed now")
        }
        return .ok("subscriptions", "\(subscriptions.count), and their sources are configured")
    }

    private func canBeAsked(_ book: BookIdentity) -> Bool {
        do {
            try requireSource(of: book)
            return !lacksAddress(book)
        } catch {
            return false
        }
    }
}

private struct Shelf {
    var subscriptions: [Subscription] = []
    /// Those that the user added.
    var stored: [Subscription] = []
    var books: [Book] = []
    var isStoreUnreadable = false

    /// What a store holds, as far as it can be read; what keeps it from that is told where the store is looked at.
    mutating func add(_ folder: LibraryFolder) async throws {
        do {
            let (subscriptions, known) = try await LibraryFolder.withReadableStore(in: folder.path) { store in
                (try await store?.subscriptions() ?? [], try await store?.books().map(\.book) ?? [])
            }
            stored += subscriptions
            books += known
        } catch is Failure {
            isStoreUnreadable = true
        }
    }
}

extension ConfigurationCheck {
    /// What is wrong with a source alone is told where that is looked at.
    fileprivate var findings: [Finding] {
        guard warnings.isEmpty else {
            return warnings.map { .warning("configuration", "\($0.what): \($0.why)", remedy: $0.remedy) }
        }
        guard let path else {
            return [.ok("configuration", "there is no file; the built-in settings are in force")]
        }
        return [.ok("configuration", "\(path) is valid")]
    }
}
