import BookModel
import CatalogFetcher
import Foundation

/// One of the libraries that are seen as one.
package struct LibraryPlace: Sendable, Hashable {
    /// By which commands and subscriptions call it.
    package var name: String
    /// Absolute.
    package var path: String
    /// Its position among all that are configured, from 0 on.
    package var number: Int

    package init(name: String, path: String, number: Int = 0) {
        (self.name, self.path, self.number) = (name, path, number)
    }

    /// A library that has no name in the configuration.
    init(unnamed path: String) {
        self.init(name: path.split(separator: "/").last.map(String.init) ?? path, path: path)
    }

    /// Where its folder really is. Blocks; a folder that is not there has only its path.
    fileprivate var realPath: String { SettingFile.realPath(path) ?? path }
}

extension Configuration {
    /// The libraries to look at, in order: one, unless several are configured and none was chosen.
    package var libraries: [LibraryPlace] {
        isOneLibraryChosen || configuredLibraries.isEmpty ? [place] : configuredLibraries
    }

    /// ``library`` with its name.
    package var place: LibraryPlace {
        configuredLibraries.first { $0.path == library } ?? LibraryPlace(unnamed: library)
    }

    /// The one that new books go to, whether or not another one is chosen; nil where there is only one.
    package var defaultLibrary: LibraryPlace? {
        configuredLibraries.first { $0.path == defaultLibraryPath } ?? configuredLibraries.first
    }

    /// The library that a book goes to while none has it: its subscription's, else the one for new books.
    package func library(forNew book: BookIdentity) throws -> LibraryPlace {
        let name = try subscriptions.first { try self.book($0.reference) == book }?.library
        return configuredLibraries.first { $0.name == name } ?? defaultLibrary ?? libraries[0]
    }

    /// What a listing is remembered as: the folders that it is of.
    package var listedPlaces: String {
        libraries.map(\.path).joined(separator: ":")
    }

    /// Whether what is shown has to say in which library it is.
    package var hasSeveralLibraries: Bool { libraries.count > 1 }

    /// The same settings for one of the libraries.
    package func choosing(_ place: LibraryPlace) -> Configuration {
        var configuration = self
        configuration.library = place.path
        configuration.isOneLibraryChosen = true
        return configuration
    }

    /// The configured library of that name, whether or not another one is chosen.
    /// - Throws: ``Failure`` of kind `configuration` where there is none.
    package func library(named name: String, askedBy what: Message) throws -> LibraryPlace {
        if let place = configuredLibraries.first(where: { $0.name == name }) { return place }
        let known = configuredLibraries.map(\.name)
        throw Failure(
            .configuration, disposition: .stop, what: "\(what) names a library that is not configured",
            why: "there is no library '\(name)'",
            remedy: nearest(to: name, among: known).map { "did you mean '\($0)'?" }
                ?? "add it under 'libraries'"
                + (known.isEmpty ? "" : ", or use one of \(known.joined(separator: ", "))"))
    }

    /// Chooses the library that a flag or a variable names, by name or by path.
    ///
    /// A single word that is neither a name nor a folder is a name that is mistyped. Blocks on the disk.
    /// - Returns: whether the text can be a path at all.
    mutating func chooseLibrary(_ text: String, base: PathBase, askedBy what: Message) throws -> Bool {
        if let place = configuredLibraries.first(where: { $0.name == text }) {
            self = choosing(place)
            return true
        }
        guard let path = base.absolutePath(text) else { return false }
        let isWord = !text.contains("/") && !text.hasPrefix("~") && !text.hasPrefix(".")
        if isWord, !configuredLibraries.isEmpty, !SettingFile.exists(path) {
            _ = try library(named: text, askedBy: what)
        }
        self = choosing(LibraryPlace(unnamed: path))
        return true
    }

    /// Finds out which library new books go to: the one that the file names as `library`, else the first.
    /// - Parameters:
    ///   - path: what the file says; nil where it says nothing.
    ///   - base: what the file's paths count from.
    mutating func resolveDefaultLibrary(_ path: String?, base: PathBase, origin: SettingOrigin) throws {
        guard let first = configuredLibraries.first else { return }
        let named = configuredLibraries.first { $0.path == path || base.absolutePath($0.name) == path }
        guard let place = path == nil ? first : named else {
            throw Failure(
                .configuration, disposition: .stop, what: "\(origin.message): 'library' is none of the libraries",
                why: "\(path ?? "") is not among \(configuredLibraries.map(\.name).joined(separator: ", "))",
                remedy: "add it under 'libraries', or name one of them")
        }
        defaultLibraryPath = place.path
        library = place.path
    }
}

extension [LibraryPlace] {
    /// The folders that a pattern such as `/mirror/shard-*` matches, in natural order. Blocks on the disk.
    static func matching(_ pattern: String) -> [LibraryPlace] {
        var found = glob_t()
        defer { globfree(&found) }
        guard glob(pattern, GLOB_NOSORT, nil, &found) == 0 else { return [] }
        let paths = (0..<Int(found.gl_pathc)).compactMap { found.gl_pathv[$0].map { String(cString: $0) } }
        return paths.filter(SettingFile.isFolder).map { LibraryPlace(unnamed: $0) }
            .sorted { $0.name == $1.name ? $0.path < $1.path : NaturalOrder.compare($0.name, $1.name) < 0 }
            .enumerated().map { LibraryPlace(name: $1.name, path: $1.path, number: $0) }
    }

    /// Why two of them cannot be two libraries; nil where all can. Blocks on the disk.
    var conflict: (what: Message, why: Message)? {
        var names: Set<String> = []
        if let twin = first(where: { !names.insert($0.name).inserted }) {
            return ("two libraries are called '\(twin.name)'", "commands name them by the last part of their path")
        }
        // A folder's path with its slash comes right before those of what is in it.
        let real = map { (name: $0.name, path: $0.realPath + "/") }.sorted {
            $0.path.utf8.lexicographicallyPrecedes($1.path.utf8)
        }
        for (one, other) in zip(real, real.dropFirst()) {
            if one.path == other.path {
                return (
                    "the libraries '\(one.name)' and '\(other.name)' are one folder", "both are \(one.path.dropLast())"
                )
            }
            if other.path.hasPrefix(one.path) {
                return ("the library '\(other.name)' is inside '\(one.name)'", "each library needs a folder of its own")
            }
        }
        return nil
    }
}
