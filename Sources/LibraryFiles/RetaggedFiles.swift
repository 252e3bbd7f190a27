import BookModel

/// Files that got tags, or were given back what was fetched, after what the store knows of them: it was lost, and an older copy of
/// it is used.
package enum RetaggedFiles {
    /// Brings records up to date with files that were made of the recorded ones, as their marks say, while their bytes are those
    /// that the marks speak of. Other files, edited ones among them, are left out.
    /// - Parameters:
    ///   - files: as they are recorded.
    ///   - looked: what was read of their beginnings, by path; nil where nothing was.
    ///   - library: absolute.
    /// - Returns: the new records; none where the recorded one is right.
    package static func records(
        of files: [LocalFile], looked: [String: ExaminedFile]? = nil, in library: String
    ) async throws -> [EpisodeIdentity: LocalFile] {
        var found = looked ?? [:]
        if looked == nil { found = try await examine(files, .beginning, in: library) }
        let marked = files.filter { found[$0.path]?.mark?.isOtherMake(of: $0) ?? false }
        let read = try await examine(marked, .whole([]), in: library)
        var records: [EpisodeIdentity: LocalFile] = [:]
        for var file in marked {
            guard let found = read[file.path], let mark = found.mark, mark.isOtherMake(of: file),
                found.digests[.sha256] == mark.sha256
            else { continue }
            file.sha256 = mark.sha256
            file.original = mark.original?.file
            file.use(found.facts)
            records[file.episode] = file
        }
        return records
    }

    /// - Returns: what was read of each, by path.
    package static func examine(
        _ files: [LocalFile], _ depth: ProbeDepth, in library: String
    ) async throws -> [String: ExaminedFile] {
        let questions = Dictionary(files.map { ($0.path, depth) }) { first, _ in first }
        return try await FileExamination.examine(questions, in: library)
    }
}

extension FileMark {
    /// Whether it speaks of the file that was fetched when the recorded one was, with other tags than that has.
    fileprivate func isOtherMake(of file: LocalFile) -> Bool {
        let fetched = original?.file.sha256 ?? sha256
        return episode == file.episode && sha256 != file.sha256 && fetched == file.fetchedSHA256
    }
}
