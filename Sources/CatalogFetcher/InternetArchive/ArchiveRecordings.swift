import BookModel

/// One recording of an item in every format that the item has of it.
struct ArchiveRecording {
    /// What all its files are made from.
    var original: String
    var files: [ArchiveFile]

    /// The name that all its files share, without what only says how they are encoded.
    var name: String { FileRole.recordingName(original) }

    /// The track number that most directly belongs to it: that of the original, else of any file.
    var track: Int? {
        files.first { $0.name == original }?.track ?? files.lazy.compactMap(\.track).first
    }

    /// The file to take: a public one in the best format, and of several in one format the first by name.
    func choice(by settings: InternetArchiveSettings) -> ArchiveFile? {
        let ranked = files.compactMap { file in settings.rank(of: file).map { (rank: $0, file: file) } }
        return ranked.min {
            $0.rank != $1.rank ? $0.rank < $1.rank : NaturalOrder.compare($0.file.name, $1.file.name) < 0
        }?.file
    }
}

/// Sorts an item's audio files into recordings.
enum ArchiveRecordings {
    /// - Returns: the recordings in the natural order of their names.
    static func of(_ files: [ArchiveFile]) -> [ArchiveRecording] {
        let audio = files.filter(\.role.isAudio)
        let indices = Dictionary(files.indices.map { (files[$0].name, $0) }) { first, _ in first }
        var groups: [String: ArchiveRecording] = [:]
        for file in audio {
            let original = original(of: file, among: files, indices: indices)
            groups[original, default: ArchiveRecording(original: original, files: [])].files.append(file)
        }
        let sorted = groups.values.sorted { NaturalOrder.precedes(segments($0.original), segments($1.original)) }
        return merged(sorted)
    }

    /// Follows a derivative to what it was made from, as far as that is a recording itself: one archive of all tracks
    /// may be the original of every one of them.
    private static func original(of file: ArchiveFile, among files: [ArchiveFile], indices: [String: Int]) -> String {
        var current = file
        // Some lists lead in a circle.
        for _ in 0..<8 where current.isDerivative {
            guard
                let next = current.originals.lazy.compactMap({ indices[$0] }).map({ files[$0] }).first(
                    where: \.isRecording)
            else { break }
            current = next
        }
        guard !current.isDerivative, current.isRecording else {
            // Whatever it was made from is not listed: files of one name belong together.
            return current.originals.first { FileRole(ofName: $0).isAudio } ?? FileRole.recordingName(current.name)
        }
        return current.name
    }

    /// Two originals of one name in different formats are one recording that was handed in twice.
    private static func merged(_ recordings: [ArchiveRecording]) -> [ArchiveRecording] {
        var merged: [ArchiveRecording] = []
        var indices: [String: Int] = [:]
        for recording in recordings {
            let formats = Set(recording.files.map(\.format))
            if let index = indices[recording.name], formats.isDisjoint(with: merged[index].files.map(\.format)) {
                merged[index].files += recording.files
            } else {
                indices[recording.name] = indices[recording.name] ?? merged.count
                merged.append(recording)
            }
        }
        return merged
    }

    static func segments(_ name: String) -> [String] { name.split(separator: "/").map(String.init) }
}

extension ArchiveFile {
    /// Audio, or film that audio was taken from.
    fileprivate var isRecording: Bool {
        if role.isAudio { return true }
        let ending = name.split(separator: ".").last?.lowercased() ?? ""
        return ["mp4", "m4v", "mpeg", "mpg", "avi", "mov", "mkv", "webm", "ogv"].contains(ending)
    }
}
