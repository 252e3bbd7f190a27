import BookModel
import BookSync
import BookSyncWeb

extension ServeCommand {
    /// Takes a new password and puts its hash into the configuration; where that is left to the listener, prints the lines.
    func setPassword(in program: Program) async throws -> ExitStatus {
        let password = try await PasswordPrompt(streams: program.streams).newPassword()
        let path = program.configurationPath
        let (entry, why) = try await offPool {
            let entry = PasswordEntry(try PasswordHash.make(of: password))
            return (entry, try entry.write(to: path))
        }
        guard let why else {
            await program.print(
                ["path": .string(path), "written": .bool(true)], or: ["the password is set in \(path)"])
            let winner = ["BOOKSYNC_SERVE_PASSWORD", "BOOKSYNC_SERVE_PASSWORD_FILE"].first {
                program.environment[$0]?.isEmpty == false
            }
            if let winner { await program.streams.writeError("the environment's \(winner) wins over it") }
            let library = try await program.configuration().configuration.library
            await ServeKeyring(library: library, logger: program.logger).endSessions()
            if !program.options.quiet {
                await program.streams.writeError(
                    "all logins have ended; restart a server that runs: until then it takes the old password")
            }
            return .done
        }
        await program.print(
            ["path": .string(path), "written": .bool(false), "lines": .array(entry.lines.map { .string($0) })],
            or: entry.lines)
        await program.streams.writeError("booksync: \(path) was not changed: \(why); put these lines into it yourself")
        return .configuration
    }

    /// Gives the apps' feeds a new address; a server that runs notices within a second.
    func rotateApps(in program: Program) async throws -> ExitStatus {
        let library = try await program.configuration().configuration.library
        try await ServeKeyring(library: library, logger: program.logger).rotateApps()
        await program.print(
            ["rotated": .bool(true)],
            or: ["podcast apps have to subscribe anew: the subscriptions page shows their new address"])
        return .done
    }
}
