import BookModel
import Foundation
import LibraryFiles
import SyncPlanner

/// How a file compares with what was recorded of it when it was fetched.
package enum FileVerdict: Sendable, Hashable {
    case intact
    /// Nothing stands at its place.
    case missing
    case displaced(FileAttributes.Kind)
    /// Bytes that are left.
    case truncated(Int64)
    /// Bytes that it has now.
    case longer(Int64)
    /// It has its size, and begins as something else than audio: by name, "an HTML page".
    case wrongHeader(Message)
    /// Other bytes, while size, times and, where it is stable, the inode are the recorded ones: nobody wrote to it.
    case bitRot
    /// Other bytes of the same length, written since it was fetched.
    case changed
    case unreadable(why: Message, isDamage: Bool)
    /// It was written to while it was read.
    case changing
    /// The bytes are those that were fetched, and their audio does not decode to its end.
    case brokenAudio(Message)

    /// | at its place | verdict |
    /// | --- | --- |
    /// | nothing · no file · a file that cannot be read | missing · displaced · unreadable |
    /// | fewer bytes · more bytes than recorded | truncated · longer |
    /// | written to while it was read | changing |
    /// | the recorded digest; the recorded size and a sound beginning, where no more was asked for | intact |
    /// | another digest: begins as no audio · time and inode as recorded · else | wrong header · bit rot · changed |
    ///
    /// - Parameter keepsInodes: whether a file has the same inode as long as nobody replaces it.
    init(of look: FileCheck, recorded file: LocalFile, keepsInodes: Bool = true) {
        switch look {
        case .nothing: self = .missing
        case .other(let kind): self = .displaced(kind)
        case .unreadable(let error):
            // What no other user and no other day would read either: a bad sector, a checksum of the filesystem.
            let isDamage = ![EACCES, EPERM, EMFILE, ENFILE, ENOMEM].contains(error.code)
            self = .unreadable(why: error.message, isDamage: isDamage)
        case .file(let found):
            if found.facts.size < file.size {
                self = .truncated(found.facts.size)
            } else if found.facts.size > file.size {
                self = .longer(found.facts.size)
            } else if !found.isUnchanged {
                self = .changing
            } else if found.sha256 == nil || found.sha256 == file.sha256 {
                self = .intact
            } else if let what = found.foreignContent {
                self = .wrongHeader(what)
            } else {
                let isUntouched = file.hasTime(of: found.facts) && (!keepsInodes || found.facts.inode == file.inode)
                self = isUntouched ? .bitRot : .changed
            }
        }
    }

    /// The word in `--json`.
    package var keyword: String {
        switch self {
        case .intact: "intact"
        case .missing: "missing"
        case .displaced: "displaced"
        case .truncated: "truncated"
        case .longer: "longer"
        case .wrongHeader: "wrong_header"
        case .bitRot: "bit_rot"
        case .changed: "changed"
        case .unreadable: "unreadable"
        case .changing: "changing"
        case .brokenAudio: "broken_audio"
        }
    }

    /// So many of them: "2 bit rot".
    func counted(_ count: Int) -> Message {
        switch self {
        case .intact: "\(count) intact"
        case .missing: "\(count) missing"
        case .displaced: "\(count) displaced"
        case .truncated: "\(count) truncated"
        case .longer: "\(count) longer"
        case .wrongHeader: "\(count) wrong header"
        case .bitRot: "\(count) bit rot"
        case .changed: "\(count) changed"
        case .unreadable: "\(count) unreadable"
        case .changing: "\(count) changing"
        case .brokenAudio: "\(count) broken audio"
        }
    }

    /// What is wrong, as it stands behind the path and a colon.
    func sentence(recorded file: LocalFile) -> Message {
        switch self {
        case .intact: "as it was fetched"
        case .missing: "missing (the next run checks whether it was renamed)"
        case .displaced(let kind): "\(kind.noun) stands in its place"
        case .truncated(let size):
            "truncated: it had \(file.size) bytes when it was fetched and has \(size) now"
        case .longer(let size):
            "longer than it was: it had \(file.size) bytes when it was fetched and has \(size) now"
        case .wrongHeader(let what): "wrong header: it begins with \(what) where audio is to be"
        case .bitRot: "bit rot: its bytes are not those that were fetched, though nobody wrote to it"
        case .changed: "changed: it was written to since it was fetched, and its bytes are others"
        case .unreadable(let why, _): "it cannot be read: \(why)"
        case .changing: "not verified: it was written to while it was read"
        case .brokenAudio(let why): "broken as it was fetched: \(why)"
        }
    }

    /// Whether fetching the episode again puts it right. What stands in the file's place, or forbids to read it, is left
    /// alone.
    var isRepairable: Bool {
        switch self {
        case .missing, .truncated, .longer, .wrongHeader, .bitRot, .changed: true
        case .unreadable(_, let isDamage): isDamage
        // The catalog's file is as broken.
        case .intact, .displaced, .changing, .brokenAudio: false
        }
    }
}

extension ExaminedFile {
    /// Whether anything was written to the file since it was fetched, as far as its times and inode tell. The time of
    /// change counts as well, which programs that put back the time of modification (tag editors) cannot put back. On a copied
    /// disk, which has other inodes, it is the time of copying.
    func wasTouched(since file: LocalFile, keepsInodes: Bool = true) -> Bool {
        guard file.hasTime(of: facts) else { return true }
        let fetched = file.fetchedAt.timeIntervalSince1970
        return keepsInodes
            && (facts.inode != file.inode || Double(changeTime) / 1_000_000_000 > fetched + Self.clockGrain)
    }

    /// Seconds by which the clock of a filesystem may lie behind or ahead of the one that a record is written by.
    private static let clockGrain = 0.05
}
