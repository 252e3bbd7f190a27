import CatalogStore
import Foundation
import Support
import Testing

/// A process that brings a store up to date is killed after each of its statements and writes; the next one finds a store
/// that lacks nothing.
@Suite(.limitedConcurrency, .enabled(if: PreloadedLibrary.isAvailable, "there is no C compiler"))
struct KilledMigrationTests {
    /// Counts the statements that write, and the writes to the store's files; `KILL_AT` kills the process after
    /// one of them. Every one is a line of the file that `EVENTS` names.
    private static let killer = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <fcntl.h>
        #include <signal.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/types.h>
        #include <unistd.h>

        struct sqlite3_stmt;

        static void count(const char *kind, const char *text) {
            static int events;
            const char *last = getenv("KILL_AT"), *log = getenv("EVENTS");
            int number = __atomic_add_fetch(&events, 1, __ATOMIC_SEQ_CST);
            if (log) {
                char line[200];
                int length = snprintf(line, sizeof line, "%s %.100s", kind, text);
                for (int i = 0; i < length; i++) if (line[i] == '\\n') line[i] = ' ';
                line[length++] = '\\n';
                int file = open(log, O_WRONLY | O_APPEND | O_CREAT, 0644);
                if (file < 0 || write(file, line, length) != length) abort();
                close(file);
            }
            if (last && atoi(last) == number) kill(getpid(), SIGKILL);
        }

        static int is_store(int file) {
            char link[64], path[4096];
            snprintf(link, sizeof link, "/proc/self/fd/%d", file);
            ssize_t length = readlink(link, path, sizeof path - 1);
            if (length < 0) return 0;
            path[length] = 0;
            return strstr(path, "/store.sqlite") != NULL;
        }

        int sqlite3_step(struct sqlite3_stmt *statement) {
            int (*step)(struct sqlite3_stmt *) = dlsym(RTLD_NEXT, "sqlite3_step");
            int (*only_reads)(struct sqlite3_stmt *) = dlsym(RTLD_NEXT, "sqlite3_stmt_readonly");
            const char *(*text)(struct sqlite3_stmt *) = dlsym(RTLD_NEXT, "sqlite3_sql");
            const char *sql = text(statement);
            int counts = sql && (!only_reads(statement) || !strncmp(sql, "COMMIT", 6));
            int result = step(statement);
            if (counts) count("statement", sql);
            return result;
        }

        ssize_t pwrite64(int file, const void *bytes, size_t length, off_t place) {
            ssize_t (*real)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite64");
            ssize_t result = real(file, bytes, length, place);
            if (is_store(file)) count("write", "");
            return result;
        }
        """

    /// Of the writes between two statements so many are passed over for each one that kills: the pages of a transaction are
    /// written one after the other, and none of them counts before the last.
    private static let passedOver = 4

    /// The events of a whole migration, up to the commit of its last step.
    private static func events(in log: URL) throws -> [String] {
        let lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n").map(String.init)
        let lastStep = try #require(lines.lastIndex { $0.hasPrefix("statement INSERT INTO grdb_migrations") })
        let commit = try #require(lines[lastStep...].firstIndex { $0.hasPrefix("statement COMMIT") })
        return Array(lines[...commit])
    }

    /// The events to be killed after: every statement, and some of the writes.
    private static func moments(of events: [String]) -> [Int] {
        events.indices.filter { events[$0].hasPrefix("statement") || $0.isMultiple(of: passedOver + 1) }.map { $0 + 1 }
    }

    @Test func `a migration that is killed after any statement is made whole by the next opening`() async throws {
        let recorded = try #require(RecordedLibrary.all.first)
        try await withTemporaryFolder { folder in
            let killer = try await PreloadedLibrary.make(Self.killer, in: folder)
            let pristine = folder.appending(path: "pristine")
            try FileManager.default.createDirectory(at: pristine, withIntermediateDirectories: false)
            let original = try await recorded.unpack(into: pristine)
            let files = try ["", "-wal"].map { ($0, try Data(contentsOf: URL(filePath: original + $0))) }

            /// A fresh copy of the store in a library of its own, and the product that opens it.
            func migrate(_ name: String, _ environment: [String: String]) async throws -> (String, Int32?) {
                let state = folder.appending(path: "\(name)/.booksync")
                try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
                let path = state.appending(path: "store.sqlite").path
                for (suffix, bytes) in files { try bytes.write(to: URL(filePath: path + suffix)) }
                let result = try await ProductRunner.run(
                    ["list", "--library", name],
                    environment: environment.merging(["LD_PRELOAD": killer.path]) { $1 }, in: folder)
                return (path, result.signal)
            }

            let log = folder.appending(path: "events")
            #expect(try await migrate("logged", ["EVENTS": log.path]).1 == nil)
            let events = try Self.events(in: log)
            #expect(events.count { $0.hasPrefix("statement") } > 60)
            #expect(events.contains("write "))
            try await CatalogStore(path: original, access: .readWrite).close()
            let (contents, definitions) = (try TableContents(of: original), try schema(of: original))
            #expect(contents.count("episode") == 2060)

            for moment in Self.moments(of: events) {
                let (path, signal) = try await migrate("L\(moment)", ["KILL_AT": String(moment)])
                #expect(signal == SIGKILL, "\(moment): \(events[moment - 1])")
                try await CatalogStore(path: path, access: .readWrite).close()
                #expect(try TableContents(of: path) == contents, "\(moment): \(events[moment - 1])")
                #expect(try schema(of: path) == definitions, "\(moment): \(events[moment - 1])")
                try FileManager.default.removeItem(at: folder.appending(path: "L\(moment)"))
            }
        }
    }
}
