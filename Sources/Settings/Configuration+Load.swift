import BookModel
import DownloadEngine
import Foundation
import LibraryFiles
import Transport

extension Configuration {
    /// Where the configuration is looked for.
    package struct Location: Sendable, Hashable {
        package var path: String
        /// Whether somebody named it, so that it must be there.
        package var isExplicit: Bool
    }

    /// `--config`, else `$BOOKSYNC_CONFIG`, else `booksync/config.yaml` in `$XDG_CONFIG_HOME` or `~/.config`. Looks at
    /// no disk.
    package static func location(
        explicitPath: String?, environment: [String: String], homeFolder: String, currentFolder: String
    ) -> Location {
        let base = PathBase(homeFolder: homeFolder, folder: currentFolder)
        for named in [explicitPath, environment["BOOKSYNC_CONFIG"]] {
            if let named, !named.isEmpty { return Location(path: base.absolutePath(named) ?? named, isExplicit: true) }
        }
        // The XDG specification: a relative path is to be ignored.
        let configured = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let path = (configured ?? homeFolder + "/.config") + "/booksync/config.yaml"
        return Location(path: base.absolutePath(path) ?? path, isExplicit: false)
    }

    /// The built-in settings, overridden by the file, by the environment's `BOOKSYNC_*`, and by the command line.
    ///
    /// Reads a file and blocks meanwhile: call it at start-up, before there is anything else to do.
    /// A relative `library` is relative to the file's folder when the file sets it, else to the current folder.
    /// - Parameters:
    ///   - explicitPath: of `--config`.
    ///   - homeFolder: absolute, for `~`.
    ///   - currentFolder: absolute.
    ///   - toleratesFaults: whether what is wrong with single settings is returned instead of thrown.
    /// - Throws: ``Failure`` of kind `configuration`.
    package static func read(
        explicitPath: String?, environment: [String: String], homeFolder: String, currentFolder: String,
        overrides: ConfigurationOverrides = ConfigurationOverrides(), toleratesFaults: Bool = false
    ) throws -> LoadedConfiguration {
        let location = location(
            explicitPath: explicitPath, environment: environment, homeFolder: homeFolder, currentFolder: currentFolder)
        let here = PathBase(homeFolder: homeFolder, folder: currentFolder)
        var configuration = builtIn
        configuration.library = here.absolutePath(builtIn.library) ?? builtIn.library
        // Until something names it; see below.
        configuration.defaultSource = nil
        configuration.proxies = ProxyEnvironment(environment)

        let findings = ConfigurationFindings()
        var origin: String?
        var keyPaths = KeyPaths()
        if let text = try contents(of: location) {
            origin = location.path
            if let root = try YAMLText.parse(text, file: location.path) {
                let folder = URL(filePath: location.path).deletingLastPathComponent().path(percentEncoded: false)
                let base = PathBase(homeFolder: homeFolder, folder: folder)
                var reader = ConfigurationReader(
                    file: location.path, environment: environment, base: base, findings: findings,
                    configuration: configuration)
                try reader.read(root)
                configuration = reader.configuration
                try findings.attempt {
                    let origin = findings.origins["library"]
                    try configuration.resolveDefaultLibrary(
                        origin.map { _ in configuration.library }, base: base, origin: origin ?? .builtIn)
                }
                keyPaths = KeyPaths(
                    defaultSource: reader.defaultSourceLine.map { "\(location.path), line \($0)" } ?? "",
                    file: location.path, subscriptionLines: reader.subscriptionLines)
            }
        }
        for setting in settings {
            try findings.attempt {
                let name = try configuration.apply(setting, from: environment, base: here, findings: findings)
                if let name, setting.key == "default-source" { keyPaths.defaultSource = "$\(name)" }
                if let name, setting.key == "library", let text = environment[name] {
                    _ = try configuration.chooseLibrary(text, base: here, askedBy: "$\(name)")
                }
            }
        }
        try findings.attempt { try configuration.apply(overrides, base: here, findings: findings) }
        try configuration.resolveReferences(keyPaths, findings: findings)
        try findings.attempt { try configuration.requireOwnCommand(from: findings.origins["notify.exec"]) }
        if !toleratesFaults, let fault = findings.faults.first { throw fault }
        let netrcProblem = configuration.readNetrc(environment: environment, base: here, findings: findings)
        return LoadedConfiguration(
            configuration: configuration, path: origin, origins: findings.origins,
            literalSecrets: findings.literalSecrets,
            secretFiles: findings.secretFiles, netrcProblem: netrcProblem,
            strangeVariables: strangeVariables(in: environment), faults: findings.faults)
    }

    /// A command runs with all the user's rights: nobody else is to say what it is.
    private func requireOwnCommand(from origin: SettingOrigin?) throws {
        guard notify.exec != nil else { return }
        let files: [String?]
        switch origin {
        case .file(let path, _, let contents): files = [path, contents]
        case .environment(_, let contents): files = [contents]
        case .builtIn, .flag, nil: files = []
        }
        guard let why = files.compactMap(\.self).lazy.compactMap(SettingFile.strangersHand).first else { return }
        throw Failure(
            .configuration, disposition: .stop, what: "the configuration cannot be used",
            why: "\(why), and notify.exec names a command to run",
            remedy: "let nobody else write it (chmod go-w), or take notify.exec out")
    }

    /// Variables by names that begin as ours do and that nothing asks for.
    private static func strangeVariables(in environment: [String: String]) -> [String: String?] {
        let known = settings.flatMap { setting in
            let name = setting.environmentName
            return setting.isSecret ? [name, name + "_FILE"] : [name]
        }
        // What other parts of the program ask for.
        let others: Set = ["BOOKSYNC_CONFIG", "BOOKSYNC_DEMO_PACE", "BOOKSYNC_MIN_SPLIT_SIZE"]
        let strange = environment.keys.filter {
            $0.hasPrefix("BOOKSYNC_") && !known.contains($0) && !others.contains($0)
        }
        // What all of them begin with would make any two of them alike.
        let prefix = "BOOKSYNC_"
        let words = known.map { String($0.dropFirst(prefix.count)) }
        return Dictionary(
            strange.map { ($0, nearest(to: String($0.dropFirst(prefix.count)), among: words).map { prefix + $0 }) }
        ) { first, _ in first }
    }

    /// - Returns: why the file that nobody named cannot be used although it is there.
    private mutating func readNetrc(
        environment: [String: String], base: PathBase, findings: ConfigurationFindings
    ) -> Message? {
        switch netrcChoice {
        case .nowhere: break
        case .file(let file):
            netrc = file.content
            if netrc.hasPasswords { findings.secretFiles.append(file.path) }
        case .standard:
            let named = environment["NETRC"].flatMap { $0.isEmpty ? nil : base.absolutePath($0) }
            guard let path = named ?? base.absolutePath("~/.netrc"), SettingFile.exists(path) else { return nil }
            do {
                netrc = try SettingFile.netrc(at: path).content
            } catch {
                return error.why
            }
            if netrc.hasPasswords { findings.secretFiles.append(path) }
        }
        return nil
    }

    /// Where what refers to sources was written, for errors.
    private struct KeyPaths {
        var defaultSource: Message = ""
        var file = ""
        var subscriptionLines: [Int] = []
    }

    /// Takes a setting from its variable or, where that is a secret, from the file that its variable names.
    /// - Returns: the variable; nil where neither is set.
    private mutating func apply(
        _ setting: Setting<Configuration>, from environment: [String: String], base: PathBase,
        findings: ConfigurationFindings
    ) throws -> String? {
        func named(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let (plain, file) = (setting.environmentName, setting.environmentName + "_FILE")
        if setting.isSecret, let text = named(file) {
            guard named(plain) == nil else {
                throw Failure(
                    .configuration, disposition: .stop, what: "the environment's \(file) cannot be used",
                    why: "\(plain) is set as well", remedy: "unset one of the two")
            }
            guard let path = base.absolutePath(text) else { throw Self.refusal(file, "expected the path of a file") }
            let value: String
            do {
                value = try SettingFile.secret(at: path)
            } catch {
                throw Self.refusal(file, error.why)
            }
            findings.secretFiles.append(path)
            try apply(setting, value, from: file, base: base)
            findings.origins[setting.key] = .environment(file, contentsOf: path)
            return file
        }
        guard let value = named(plain) else { return nil }
        try apply(setting, value, from: plain, base: base)
        findings.origins[setting.key] = .environment(plain)
        return plain
    }

    private mutating func apply(
        _ setting: Setting<Configuration>, _ value: String, from name: String, base: PathBase
    ) throws {
        do {
            if try setting.apply(&self, value, base) { return }
        } catch let failure as Failure {
            throw Self.refusal(name, failure.why)
        }
        throw Self.refusal(
            name, "expected \(setting.expected)" + (setting.isSecret ? "" : ", found '\(value)'"))
    }

    private static func refusal(_ name: String, _ why: Message) -> Failure {
        Failure(
            .configuration, disposition: .stop, what: "the environment's \(name) has a value that does not fit",
            why: why, remedy: "correct or unset \(name)")
    }

    private mutating func apply(
        _ overrides: ConfigurationOverrides, base: PathBase, findings: ConfigurationFindings
    ) throws {
        if let path = overrides.library {
            guard try chooseLibrary(path, base: base, askedBy: "--library") else {
                throw Failure(.usage, what: "--library '\(path)' names no folder", why: "it is no path")
            }
            findings.origins["library"] = .flag("--library")
        }
        if let jobs = overrides.jobs {
            downloads.jobs = jobs
            findings.origins["downloads.jobs"] = .flag("--jobs")
            // All of them may be on one server, unless somebody said how many that bears.
            if findings.origins["downloads.jobs-per-host"] == nil, jobs > downloads.jobsPerHost {
                downloads.jobsPerHost = jobs
                findings.origins["downloads.jobs-per-host"] = .flag("--jobs")
            }
        }
        if let limitRate = overrides.limitRate {
            downloads.limitRate = limitRate
            findings.origins["downloads.limit-rate"] = .flag("--limit-rate")
        }
        if let order = overrides.order {
            downloads.order = order
            findings.origins["downloads.order"] = .flag("--order")
        }
    }

    /// Holds the names of sources against the sources there are.
    private mutating func resolveReferences(_ keyPaths: KeyPaths, findings: ConfigurationFindings) throws {
        if let name = defaultSource {
            try findings.attempt { try requireSource(name, what: "\(keyPaths.defaultSource): 'default-source'") }
        } else if sources.count == 1 {
            defaultSource = sources.keys.first
        }
        var seen: Set<BookReference.Target> = []
        for (subscription, line) in zip(subscriptions, keyPaths.subscriptionLines) {
            try findings.attempt { try check(subscription, at: "\(keyPaths.file), line \(line)", &seen) }
        }
    }

    /// - Parameter seen: the books of the subscriptions before it.
    private func check(
        _ subscription: SubscriptionSetting, at keyPath: @autoclosure () -> Message,
        _ seen: inout Set<BookReference.Target>
    ) throws {
        do {
            try subscription.reference.requireNoSecret()
        } catch let failure as Failure {
            throw Failure(
                .configuration, disposition: .stop, what: "\(keyPath()): \(failure.what)", why: failure.why,
                remedy: failure.remedy)
        }
        if let name = subscription.library {
            _ = try library(named: name, askedBy: "\(keyPath()): the subscription to '\(subscription.reference)'")
        }
        var target = subscription.reference.target
        if case .id(let id) = target {
            guard let source = defaultSource else {
                throw Failure(
                    .configuration, disposition: .stop, what: "\(keyPath()): the source of the book '\(id)' is unknown",
                    why: sources.isEmpty ? "there is no source" : "there are several sources and no default-source",
                    remedy: "write SOURCE:\(id), or set default-source")
            }
            target = .book(BookIdentity(source: source, id: id))
        }
        if case .book(let named) = target {
            let book = withSource(named)
            target = .book(book)
            try requireSource(book.source, what: "\(keyPath()): the subscription to '\(book)'")
        }
        guard seen.insert(target).inserted else {
            throw Failure(
                .configuration, disposition: .stop,
                what: "\(keyPath()): there are two subscriptions to '\(subscription.reference)'",
                why: "each book is mirrored once", remedy: "keep one of them")
        }
    }

    private func requireSource(_ name: String, what: @autoclosure () -> Message) throws {
        guard source(named: name) == nil, name != Self.demoSource else { return }
        let known = sources.keys.sorted()
        throw Failure(
            .configuration, disposition: .stop, what: "\(what()) names a source that is not configured",
            why: "there is no source '\(name)'",
            remedy: nearest(to: name, among: known).map { "did you mean '\($0)'?" }
                ?? "add it under 'sources'" + (known.isEmpty ? "" : ", or use one of \(known.joined(separator: ", "))"))
    }

    // MARK: The file

    /// - Returns: nil when the file is not there and need not be.
    private static func contents(of location: Location) throws -> String? {
        func refuse(_ why: Message, _ remedy: Message? = nil) -> Failure {
            Failure(
                .configuration, disposition: .stop, what: "the configuration \(location.path) cannot be read", why: why,
                remedy: remedy)
        }
        let bytes: [UInt8]
        do {
            bytes = try SettingFile.read(location.path, atMost: YAMLText.byteLimit + 1)
        } catch let error where (error.code == ENOENT || error.code == ENOTDIR) && !location.isExplicit {
            return nil
        } catch {
            throw refuse(error.message, "see --config and BOOKSYNC_CONFIG")
        }
        guard bytes.count <= YAMLText.byteLimit else { throw refuse("it is larger than 1 MB", "name another file") }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
        throw refuse("line \(line + 1) is not UTF-8 text", "save the file as UTF-8")
    }
}
