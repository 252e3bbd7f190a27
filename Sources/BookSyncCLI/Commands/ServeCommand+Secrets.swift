import BookModel
import BookSync
import BookSyncWeb
import LibraryFiles
import Logging
import Settings

extension ServeCommand {
    /// Reads the configuration again when its file was written to: who was locked out by a new password is so at once. One
    /// that cannot be read counts for nothing, nor does one that lets anybody in: a file that is being written may be empty
    /// for a moment.
    /// - Parameter settings: those that the server begins with.
    func changes(of settings: ServeSettings, _ program: Program) async -> @Sendable () async -> ServeSettings? {
        let file = WatchedFile(path: program.configurationPath)
        _ = await file.hasChanged()
        return {
            guard await file.hasChanged() else { return nil }
            do {
                let changed = try await program.configuration().configuration.serve
                if changed.asksWhoComes { return changed }
                guard settings.asksWhoComes else { return nil }
                program.logger.warning("without a password and a token the old ones count until serve is restarted")
            } catch {
                program.logger.warning("the configuration is not read again", metadata: ["why": "\(error)"])
            }
            return nil
        }
    }

    /// Takes a new password and puts its hash into the configuration; where that is left to the user, prints the lines.
    func setPassword(in program: Program) async throws -> ExitStatus {
        let password = try await program.streams.newPassword()
        let path = program.configurationPath
        let (entry, why) = try await runBlocking {
            let entry = PasswordEntry(try PasswordHash.make(of: password))
            return (entry, try entry.write(to: path))
        }
        guard let why else {
            await program.print(
                Self.document(path, linesLeft: []), or: ["the password is set in \(path)"])
            let winner = ["BOOKSYNC_SERVE_PASSWORD", "BOOKSYNC_SERVE_PASSWORD_FILE"].first {
                program.environment[$0]?.isEmpty == false
            }
            if let winner { await program.streams.writeError("the environment's \(winner) wins over it") }
            let library = try await program.configuration().configuration.library
            await ServeKeyring(library: library, logger: program.logger).endSessions()
            await program.note("all logins have ended; a server that runs takes the new password at once")
            return .done
        }
        await program.print(
            Self.document(path, linesLeft: entry.lines), or: entry.lines.map(Message.init(verbatim:)))
        await program.streams.writeError("booksync: \(path) was not changed: \(why); put these lines into it yourself")
        return .configuration
    }

    /// - Parameter linesLeft: what the user has to write into the file; none where it is written.
    private static func document(_ path: String, linesLeft: [String]) -> JSONDocument {
        [
            "event": "password_set", "path": .string(path), "written": .bool(linesLeft.isEmpty),
            "lines": .array(linesLeft.map { .string($0) }),
        ]
    }

    /// Gives the feeds of the owner's apps a new address; a server that runs notices within a second.
    func rotateApps(in program: Program) async throws -> ExitStatus {
        let configuration = try await program.configuration().configuration
        let library = configuration.library
        // Without a password all who come are users.
        let users = try await UserBook(of: library, knownLibraries: program.knownLibraries).users()
        guard configuration.serve.asksWhoComes || users.isEmpty else {
            throw Failure(
                .usage, disposition: .stop, what: "no address is changed",
                why: "each user has an address of their own",
                remedy: "booksync serve --passwd NAME changes it together with the password")
        }
        try await ServeKeyring(library: library, logger: program.logger).rotateApps()
        await program.print(
            ["event": "apps_rotated", "rotated": .bool(true)],
            or: ["podcast apps have to subscribe anew: the subscriptions page shows their new address"])
        return .done
    }
}
