import BookModel
import Foundation
import Transport

/// What is wrong with a configuration, and what is only not well: for `config check`. No server is asked anything.
package struct ConfigurationCheck: Sendable {
    /// Something that works and should be otherwise.
    package struct Warning: Sendable, Hashable {
        package var what: Message
        package var why: Message
        package var remedy: Message

        package var message: Message { "\(what): \(why); \(remedy)" }
    }

    /// The file; nil where there is none.
    package var path: String?
    /// 0 unless `libraries` names them.
    package var libraries = 0
    package var sources = 0
    package var subscriptions = 0
    package var errors: [Failure] = []
    package var warnings: [Warning] = []

    package var isGood: Bool { errors.isEmpty }

    /// Blocks: it reads the configuration and looks at the files that it names.
    ///
    /// - Parameter load: reads the configuration.
    /// - Throws: what `load` throws, unless it says what is wrong with the configuration.
    package init(_ load: () throws -> LoadedConfiguration) throws {
        let loaded: LoadedConfiguration
        do {
            loaded = try load()
        } catch let failure as Failure where failure.kind == .configuration {
            errors = [failure]
            return
        }
        let configuration = loaded.configuration
        path = loaded.path
        libraries = configuration.configuredLibraries.count
        sources = configuration.sources.count
        subscriptions = configuration.subscriptions.count
        let inOrder = configuration.sources.values.sorted { $0.name < $1.name }
        errors = loaded.faults + inOrder.flatMap(\.shortcomings)
        warnings = Self.openSecrets(of: loaded) + inOrder.compactMap(Self.uselessCookies)
        warnings += loaded.strangeVariables.sorted { $0.key < $1.key }.map { name, nearest in
            Warning(
                what: "unknown environment variable \(name)", why: "there is no such setting",
                remedy: nearest.map { "did you mean \($0)?" } ?? "unset it")
        }
        if configuration.notify.audiobookshelf != nil, configuration.notify.audiobookshelfLibrary == nil {
            warnings.append(
                Warning(
                    what: "Audiobookshelf is not asked to scan", why: "notify.audiobookshelf names no library",
                    remedy: "set library to its id, with which its address there ends"))
        }
        if let trouble = loaded.netrcProblem {
            warnings.append(
                Warning(what: "the netrc file is not used", why: trouble, remedy: "correct it, or set netrc: none"))
        }
    }

    private static func openSecrets(of loaded: LoadedConfiguration) -> [Warning] {
        var warnings: [Warning] = []
        if let path = loaded.path, !loaded.literalSecrets.isEmpty, SettingFile.isReadableByAll(path) {
            let secrets = loaded.literalSecrets.sorted { $0.line < $1.line }
                .map { secret -> Message in "\(secret.setting) in line \(secret.line)" }.joined(separator: ", ")
            warnings.append(
                Warning(
                    what: "everybody on this machine can read \(path)", why: "it holds secrets (\(secrets))",
                    remedy: "chmod 600 it, or take them from the environment or from files of their own"))
        }
        for path in Set(loaded.secretFiles).sorted() where SettingFile.isReadableByAll(path) {
            warnings.append(
                Warning(
                    what: "everybody on this machine can read \(path)", why: "it holds secrets",
                    remedy: "chmod 600 it"))
        }
        return warnings
    }

    private static func uselessCookies(of source: SourceConfiguration) -> Warning? {
        guard let cookies = source.cookies else { return nil }
        let origins = Set(source.ownAddresses.compactMap(WebOrigin.init))
        guard !cookies.content.hasAny(for: origins, now: Date().timeIntervalSince1970) else { return nil }
        return Warning(
            what: "the source '\(source.name)' sends no cookie",
            why: "\(cookies.path) has none for its server that has not expired", remedy: "export it anew")
    }
}

extension JSONDocument {
    package init(_ check: ConfigurationCheck) {
        func entry(_ what: Message, _ why: Message, _ remedy: Message?) -> JSONDocument {
            ["what": .string(what.description), "why": .string(why.description), "remedy": .init(remedy)]
        }
        self = [
            "path": .init(check.path),
            "ok": .bool(check.isGood),
            "libraries": .init(check.libraries),
            "sources": .init(check.sources),
            "subscriptions": .init(check.subscriptions),
            "errors": .array(check.errors.map { entry($0.what, $0.why, $0.remedy) }),
            "warnings": .array(check.warnings.map { entry($0.what, $0.why, $0.remedy) }),
        ]
    }
}
