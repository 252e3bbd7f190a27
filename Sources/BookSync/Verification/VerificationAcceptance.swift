import BookModel
import CatalogStore
import Foundation
import LibraryFiles

extension VerificationReport {
    /// Takes what the user wrote into files for what they are to be from now on: their tags, their cuts. The record gets
    /// the size and digest that the file has now, and nothing is fetched. Its time stays that of the fetch: by that a later version
    /// of the catalog's is known to replace somebody's work, which goes to the trash then.
    ///
    /// The file's mark stays as well: by one that does not fit its bytes they are not taken for what was fetched, and replaced, when
    /// the store is lost.
    ///
    /// Only what somebody wrote to since it was fetched is accepted, and only what begins as audio does: bit rot is nobody's
    /// wish.
    ///
    /// - Returns: the report with what came of each bad file.
    /// - Throws: ``Failure``; `CancellationError`.
    package func accepted(in session: LibrarySession) async throws -> VerificationReport {
        var report = self
        for index in report.bad.indices {
            try Task.checkCancellation()
            report.bad[index].repair = try await accept(report.bad[index], in: session)
        }
        return report
    }

    private func accept(_ bad: VerifiedFile, in session: LibrarySession) async throws -> VerifiedFile.Repair {
        guard let size = bad.acceptableSize else { return .left("it is not what somebody edited") }
        guard try await session.store.episode(bad.file.episode)?.file == bad.file else {
            return .left("a run replaced it meanwhile")
        }
        let path = session.folder.path + "/" + bad.file.path
        let look = try await runBlocking { FileReader().look(at: path, size: size, depth: .whole) { _ in true } }
        guard case .file(let found)? = look, found.isUnchanged, let sha256 = found.sha256 else {
            return .left("it was written to while it was read")
        }
        if let what = found.foreignContent { return .left("it begins with \(what) where audio is to be") }
        var file = bad.file
        file.size = found.facts.size
        file.sha256 = sha256
        file.inode = found.facts.inode
        file.verification = .unverified
        // Nobody knows what that was before it was edited.
        file.original = nil
        try await session.store.updateFiles([file])
        return .accepted
    }
}

extension VerifiedFile {
    /// Bytes that the file has, where it may be accepted as it is.
    fileprivate var acceptableSize: Int64? {
        guard wasTouched else { return nil }
        switch verdict {
        case .truncated(let size), .longer(let size): return size > 0 ? size : nil
        case .changed: return file.size
        case .intact, .missing, .displaced, .wrongHeader, .bitRot, .unreadable, .changing, .brokenAudio: return nil
        }
    }
}
