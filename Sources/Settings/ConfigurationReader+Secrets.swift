import BookModel

// Secrets may stand in files of their own: behind any key that takes one, the same key with -file names the file.

extension ConfigurationReader {
    static let fileSuffix = "-file"

    /// - Returns: `token` of `token-file`; nil for a key that names no file.
    func ownKey(ofFileKey key: String) -> String? {
        guard key.hasSuffix(Self.fileSuffix), key.count > Self.fileSuffix.count else { return nil }
        return String(key.dropLast(Self.fileSuffix.count))
    }

    /// A value and its file cannot both count.
    func refuseTwins(_ entries: [SettingNode.Entry]) throws {
        let keys = Set(entries.map(\.key))
        for entry in entries {
            guard let own = ownKey(ofFileKey: entry.key), keys.contains(own) else { continue }
            throw Failure(
                .configuration, disposition: .stop,
                what: "\(file), line \(entry.line): '\(own)' is set twice, by itself and by '\(entry.key)'",
                why: "only one of them can count", remedy: "keep one of the two")
        }
    }

    /// Reads the file that an entry names.
    ///
    /// - Parameter path: as written, its variables expanded.
    /// - Throws: ``Failure`` that names file, line and key.
    func secret(at path: String, _ entry: SettingNode.Entry) throws -> (text: String, path: String) {
        guard let absolute = base.absolutePath(path) else {
            throw refusal(entry, expected: "the path of a file", found: path)
        }
        do {
            let text = try SettingFile.secret(at: absolute)
            findings.secretFiles.append(absolute)
            return (text, absolute)
        } catch {
            throw unusable(entry, error)
        }
    }

    func unusable(_ entry: SettingNode.Entry, _ error: SettingFile.Unusable) -> Failure {
        Failure(
            .configuration, disposition: .stop,
            what: "\(file), line \(entry.line): the file that '\(entry.key)' names cannot be used", why: error.why,
            remedy: "correct the path, or the file and who may read it")
    }

    // MARK: What is noted

    func record(_ keyPath: String, line: Int, contentsOf path: String? = nil) {
        findings.origins[keyPath] = .file(path: file, line: line, contentsOf: path)
    }

    /// - Parameter raw: as it stands in the file: a value that is taken from the environment is no secret there.
    func recordSecret(_ raw: String, _ setting: String, line: Int) {
        guard !raw.isEmpty, VariableExpansion.expand(raw, environment: [:]).unset.isEmpty else { return }
        findings.literalSecrets.append(LiteralSecret(setting: setting, line: line))
    }

    // MARK: Within a source

    /// The value of an entry, or of the file that it names; what is missing is noted in the source and not refused, see
    /// ``SourceConfiguration/requireVariables()``.
    ///
    /// - Parameters:
    ///   - keyPath: of the setting: `sources.kting.query`.
    ///   - isSecret: whether a value that stands in the configuration itself should not be seen by others.
    /// - Returns: the setting's own key, and the value; empty where it is missing.
    func readSecret(
        _ entry: SettingNode.Entry, in keyPath: String, _ source: inout SourceConfiguration,
        isSecret: (_ value: String) -> Bool = { _ in true }
    ) throws -> (key: String, value: String) {
        let raw = try text(entry)
        let known = source.unsetVariables.count
        let value = lenient(raw, line: entry.line, &source)
        guard let key = ownKey(ofFileKey: entry.key) else {
            record("\(keyPath).\(entry.key)", line: entry.line)
            if isSecret(value) { recordSecret(raw, "\(keyPath).\(entry.key)", line: entry.line) }
            return (entry.key, value)
        }
        // Its path is not known before its variables are.
        guard source.unsetVariables.count == known else { return (key, "") }
        do {
            let (text, path) = try secret(at: value, entry)
            record("\(keyPath).\(key)", line: entry.line, contentsOf: path)
            return (key, text)
        } catch let failure as Failure {
            source.faults.append(failure)
            record("\(keyPath).\(key)", line: entry.line)
            return (key, "")
        }
    }

    /// Reads a file that is named by its path, as ``readSecret(_:in:_:isSecret:)`` does.
    func readFile<Content>(
        _ entry: SettingNode.Entry, in keyPath: String, _ source: inout SourceConfiguration,
        _ read: (String) throws(SettingFile.Unusable) -> NamedFile<Content>
    ) throws -> NamedFile<Content>? {
        record("\(keyPath).\(entry.key)", line: entry.line)
        let known = source.unsetVariables.count
        let value = lenient(try text(entry), line: entry.line, &source)
        guard !value.isEmpty, source.unsetVariables.count == known else { return nil }
        guard let path = base.absolutePath(value) else {
            throw refusal(entry, expected: "the path of a file")
        }
        do {
            return try read(path)
        } catch {
            source.faults.append(unusable(entry, error))
            return nil
        }
    }
}
