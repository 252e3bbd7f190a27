import BookModel

/// How the file that the store records for an episode compares with what stands on disk.
enum FileCondition: Equatable {
    /// Nothing is recorded.
    case unrecorded
    /// Recorded, and no longer where it was.
    case missing(LocalFile)
    /// There, with the recorded size. The record's path is where it stands: when it was found under the wanted name
    /// (a rename whose record was lost, or the user's), that path, and `recordedPath` says what the store has.
    case intact(LocalFile, touched: Bool, recordedPath: String)
    /// There, with another size than recorded: the user changed it.
    case changed(LocalFile, size: Int64)
    /// Something else than a file stands at its path.
    case displaced(LocalFile, by: FileAttributes.Kind)

    init(of shelved: EpisodeRecord, wanted: String?, files: [String: FileAttributes], owners: [String: String]) {
        guard var file = shelved.file else {
            self = .unrecorded
            return
        }
        if let facts = files[file.path], owners[file.path] == shelved.episode.identity.key {
            if facts.kind != .file {
                self = .displaced(file, by: facts.kind)
            } else if facts.size != file.size {
                self = .changed(file, size: facts.size)
            } else {
                self = .intact(file, touched: !file.hasTime(of: facts), recordedPath: file.path)
            }
            return
        }
        // A path that the store gives to another episode is that one's, whatever the inode says: inodes are reused.
        if let wanted, let facts = files[wanted], facts.kind == .file, facts.inode == file.inode,
            facts.size == file.size, owners[wanted] == nil
        {
            let recordedPath = file.path
            file.path = wanted
            self = .intact(file, touched: !file.hasTime(of: facts), recordedPath: recordedPath)
            return
        }
        self = .missing(file)
    }

    var isMissing: Bool { if case .missing = self { true } else { false } }

    /// Where the episode's own file stands; nil when there is none.
    var existingFile: LocalFile? {
        switch self {
        case .intact(let file, _, _), .changed(let file, _): file
        case .unrecorded, .missing, .displaced: nil
        }
    }
}

extension FileAttributes.Kind {
    /// As a sentence begins with it.
    package var noun: Message {
        switch self {
        case .file: "a file"
        case .folder: "a folder"
        case .symbolicLink: "a symbolic link"
        case .other: "something that is no file"
        }
    }
}
