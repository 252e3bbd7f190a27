import BookModel
import Crypto

/// Where the files of a book's episodes belong: episode key → path relative to the library. All paths differ, also on
/// a filesystem that ignores case or normalises names.
///
/// Episodes that would share a name are told apart by a suffix made of the episode's key. An episode keeps the path
/// that is recorded for it as long as it is one of those it could get, so that twins that come or go rename nothing;
/// a plain name that nobody holds goes to the lowest section. The order of the input does not matter.
///
/// A number that a name begins with is dropped where `{section}` says the same (``LeadingNumber``), save for books whose
/// files were named before this was so.
/// - Parameters:
///   - recorded: episode key → the path at which its file is now.
///   - others: paths that belong to other books: two books may have one title, and then one folder.
package func libraryPaths(
    for episodes: [Episode], of book: Book, template: NamingTemplate, recorded: [String: String],
    others: Set<String> = []
) -> [String: String] {
    let highest = max(book.declaredEpisodes ?? 0, episodes.lazy.map(\.section).max() ?? 0)
    // A catalog may declare any number of episodes.
    let width = min(7, max(3, String(highest).count))
    let sorted = episodes.sorted { ($0.section, $0.identity.key) < ($1.section, $1.identity.key) }
    let names = bookNames(for: sorted, of: book, template: template, recorded: recorded, width: width)
    func path(_ episode: Episode, suffix: String) -> String {
        template.path(
            for: episode, of: names, width: width, extension: AudioExtension.of(episode), suffix: suffix)
    }

    var paths: [String: String] = [:]
    var taken = Set(others.map(SafeName.comparisonKey))
    func claim(_ path: String, for episode: Episode) -> Bool {
        guard taken.insert(SafeName.comparisonKey(path)).inserted else { return false }
        paths[episode.identity.key] = path
        return true
    }

    let usesAddress = template.fields.contains(.filename)
    for episode in sorted {
        let key = episode.identity.key
        guard paths[key] == nil, let present = recorded[key] else { continue }
        // What was locked since has no name at the source any more.
        if usesAddress, episode.isLocked, claim(present, for: episode) { continue }
        for suffix in suffixes(for: key) {
            let candidate = path(episode, suffix: suffix())
            // Most paths are the same to the last byte, which is quickly seen.
            let isPresent =
                candidate.utf8.elementsEqual(present.utf8)
                || SafeName.comparisonKey(candidate) == SafeName.comparisonKey(present)
            if isPresent, claim(candidate, for: episode) { break }
        }
    }
    for episode in sorted where paths[episode.identity.key] == nil {
        let key = episode.identity.key
        if suffixes(for: key).contains(where: { claim(path(episode, suffix: $0()), for: episode) }) { continue }
        // Even the digest is taken: by a name that was made to look so. Numbers do not run out.
        var number = 2
        while !claim(path(episode, suffix: " [\(digest(of: key)) \(number)]"), for: episode) { number += 1 }
    }
    return paths
}

/// A book's part of the names, with or without the numbers that its episodes' names begin with: as its recorded files are
/// named, and of a book without files without them where `{section}` says the same.
private func bookNames(
    for sorted: [Episode], of book: Book, template: NamingTemplate, recorded: [String: String], width: Int
) -> NamingTemplate.BookNames {
    let whole = NamingTemplate.BookNames(book, template: template)
    guard template.putsSectionFirst else { return whole }
    var numberless = whole
    numberless.dropsNumbers = true
    let numbered = sorted.filter { LeadingNumber(of: $0.name) != nil }
    for episode in numbered {
        guard let present = recorded[episode.identity.key] else { continue }
        let known = [whole, numberless].first { names in
            // The book may have grown since.
            (3...width).contains { width in
                template.path(
                    for: episode, of: names, width: width, extension: AudioExtension.of(episode), suffix: "") == present
            }
        }
        if let known { return known }
    }
    return numbered.count == sorted.count && LeadingNumber.areOrder(of: sorted) ? numberless : whole
}

/// None, the key (as far as it can stand in a name), and its digest; each made only when the one before will not do.
private func suffixes(for key: String) -> [() -> String] {
    [
        { "" },
        {
            let safe = SafeName.cut(SafeName.text(key), toBytes: 40)
            // A key that lost something might be another's; so might one that differs in case alone.
            let isFaithful = Array(safe.utf8) == Array(key.utf8) && !safe.isEmpty && key == key.lowercased()
            return isFaithful ? " [\(safe)]" : " [\(safe.isEmpty ? "" : safe + " ")\(digest(of: key).prefix(8))]"
        },
        { " [\(digest(of: key))]" },
    ]
}

private func digest(of key: String) -> String {
    SHA256.hash(data: Array(key.utf8)).prefix(8).hexadecimal
}
