import BookModel
import Foundation
import GRDB

/// The one place where errors of the database become failures: every access of the room goes through here.
/// - Parameter what: what has failed, for the user.
func failing<Value>(_ what: Message, at path: String, _ body: () throws -> Value) throws -> Value {
    do {
        return try body()
    } catch let failure as Failure {
        throw failure
    } catch let error as DatabaseError {
        throw failure(of: error, what: what, path: path)
    } catch let error as ForeignPath {
        throw foreign(what: what, path: path, fault: "it names '\(error.path)', which is no path of the library")
    } catch is RowDecodingError, is UnknownWord, is DecodingError {
        // The database is sound, and this program does not understand it.
        throw Failure(
            .defect, disposition: .stop, what: what, why: "\(path) holds what this version of booksync does not know",
            remedy: "use the version that wrote it; nothing was changed")
    } catch {
        throw Failure(
            .inputOutput, disposition: .stop, what: what,
            why: "\(path): \(error)",
            remedy: "check the disk that holds the library")
    }
}

/// The statement and its arguments stay out of the text: they may hold what the user would not print.
private func failure(of error: DatabaseError, what: Message, path: String) -> Failure {
    let message = sentence(of: error)
    if error.resultCode == .SQLITE_CANTOPEN, let shortage = descriptorShortage() {
        return .file(what, errno: shortage)
    }
    switch error.resultCode {
    case .SQLITE_CORRUPT, .SQLITE_NOTADB: return damaged(what: what, path: path, why: message)
    case .SQLITE_FULL: return .file(what, errno: ENOSPC)
    case .SQLITE_IOERR where isDiskFull(at: path), .SQLITE_CANTOPEN where isDiskFull(at: path):
        // What SQLite says where it cannot make or grow the files beside the database.
        return .file(what, errno: ENOSPC)
    case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH:
        return Failure(
            .libraryUnwritable, disposition: .stop, what: what, why: "\(path): \(message)",
            remedy: "check that the library is mounted, and that you may read and write it")
    case .SQLITE_BUSY, .SQLITE_LOCKED:
        // Whatever comes next would wait as long in vain.
        return Failure(
            .temporary, disposition: .stop, what: what, why: "another process has been writing to \(path) for long",
            remedy: "try again when it has ended")
    case .SQLITE_IOERR, .SQLITE_NOLFS, .SQLITE_NOMEM, .SQLITE_PROTOCOL:
        return Failure(
            .inputOutput, disposition: .stop, what: what, why: "\(path): \(message)",
            remedy: "check the disk that holds the library")
    default:
        var failure = Failure(.defect, disposition: .stop, what: what, why: "\(path): \(message)")
        failure.detail = error.message
        return failure
    }
}

/// What SQLite says of its code; the text that came with the error may be that of another call.
func sentence(of error: DatabaseError) -> Message {
    let text = DatabaseError(resultCode: error.resultCode).message
    return text.map(Message.init(wording:)) ?? "SQLite error \(error.extendedResultCode.rawValue)"
}

/// Whether no byte more, or no file more, can be written beside the store.
func isDiskFull(at path: String) -> Bool {
    var facts = statvfs()
    guard statvfs((path as NSString).deletingLastPathComponent, &facts) == 0 else { return false }
    // Filesystems that make inodes as they need them say that there are none, and some say nothing at all.
    return (facts.f_blocks > 0 && facts.f_bavail == 0) || (facts.f_files > 0 && facts.f_favail == 0)
}

/// The database is sound, and somebody else wrote to it what would have booksync do harm.
func foreign(what: Message, path: String, fault: Message) -> Failure {
    Failure(
        .configuration, disposition: .stop, what: what, why: "\(path): \(fault), and booksync did not do that",
        remedy: "undo it with sqlite3, or put back one of the copies in .booksync/backup")
}

func damaged(what: Message, path: String, why: Message) -> Failure {
    Failure(
        .inputOutput, disposition: .stop, what: what, why: "\(path) is damaged (\(why))",
        remedy:
            "the audio files are untouched; put back a backup of this file, or let booksync fetch put it aside, begin a "
            + "new one and recognise what is on disk", reason: .storeDamage)
}

extension Failure {
    /// The store's file was found to be none before it was opened.
    package static func damagedStore(at path: String, why: Message) -> Failure {
        damaged(what: "the store cannot be opened", path: path, why: why)
    }

    /// Whether the file of the store itself is what is wrong, so that only another one helps.
    package var isStoreDamage: Bool { reason == .storeDamage }
}
