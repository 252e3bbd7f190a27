#if os(Linux)
    import Foundation
    import Glibc
    import Support
    import Testing

    extension ProductTests {
        /// Each call to the disk of a run of 30 episodes fails once, or is the process's last, and the next run mends it.
        @Suite(
            .needsCompiler
        )
        struct FaultSweep {
            /// As `Fixtures/preloaded/faults.c` groups them.
            enum Call: String, CaseIterable {
                case write, fsync, rename, ftruncate, open, mkdir, fcntl
            }

            /// 0 kills. The first three alone where this runs with all other tests.
            private static let errors: [(name: String, number: Int32)] = [
                ("ENOSPC", ENOSPC), ("KILL", 0), ("EINTR", EINTR), ("EIO", EIO), ("EDQUOT", EDQUOT), ("EMFILE", EMFILE),
            ]
            /// What a run may say of a disk that fails: the exit codes of the contract, without the one of a defect.
            private static let honest: Set<Int32> = [0, 73, 74, 75]

            /// Which of so many calls fail, spread over the run.
            private static func places(in count: Int) -> [Int] {
                let places = min(count, Tier.choose(full: 1, long: 25))
                return (0..<places).map { 1 + ($0 * 2 + 1) * count / (places * 2) }
            }

            private struct Faults {
                let bench: Workbench
                let environment: [String: String]

                init(_ bench: Workbench) async throws {
                    self.bench = bench
                    let faults = try await PreloadedLibrary.make("faults", in: bench.folder)
                    environment = ["LD_PRELOAD": faults.path, "FAULT_BELOW": bench.library.path]
                }

                func fetch(_ call: Call, failingAt number: Int, with error: Int32) async throws -> ProductRunner.Result
                {
                    let fault = [
                        "FAULT_CALL": call.rawValue, "FAULT_AT": "\(number)", "FAULT_ERROR": "\(error)",
                        "FAULT_REPORT": bench.folder.appending(path: "report").path,
                    ]
                    return try await bench.run(
                        "fetch", "1", "--json",
                        environment: bench.configured.merging(environment) { $1 }.merging(fault) { $1 })
                }

                /// How many calls of the kind the last run made.
                func count() throws -> Int {
                    let text = try String(contentsOf: bench.folder.appending(path: "report"), encoding: .utf8)
                    return try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
                }
            }

            @Test(arguments: Call.allCases)
            func `case 36: whichever call fails, nothing is lost, fetched twice or said wrongly`(call: Call)
                async throws
            {
                let catalog = ScriptedCatalog(episodes: 30, bytes: 3000)
                let digests = Set(catalog.digests)
                // What the four transfers under way had received of a run that ended.
                let allowance = 4 * 3100
                try await withCatalog(catalog.script) { bench, server in
                    let faults = try await Faults(bench)
                    _ = try await faults.fetch(call, failingAt: 0, with: 0)
                    let count = try faults.count()
                    try #require(count > 0)
                    for (name, error) in Self.errors.prefix(Tier.choose(full: 3, long: 6))
                    where error != EMFILE || call == .open {
                        var outcomes: [String: Int] = [:]
                        for number in Self.places(in: count) {
                            try bench.deleteLibrary()
                            let sentBefore = server.record.audioBytesSent
                            let what = "\(call) \(name) \(number)"
                            let failed = try await faults.fetch(call, failingAt: number, with: error)
                            outcomes[failed.exitCode.map(String.init) ?? "killed", default: 0] += 1
                            if let code = failed.exitCode {
                                #expect(Self.honest.contains(code), "\(what): \(code) \(failed.errors)")
                            } else {
                                #expect(error == 0, "\(what): ended by signal \(failed.signal ?? 0)")
                            }
                            let whole = bench.exists ? try bench.digests() : []
                            #expect(digests.isSuperset(of: whole), "\(what)")
                            // Only SQLite, which syncs and locks, gives up when a signal interrupts a call.
                            if error == EINTR, call != .fsync, call != .fcntl {
                                #expect(failed.exitCode == 0, "\(what)")
                            }
                            if failed.exitCode == 0 { #expect(whole.count == 30, "\(what): \(failed.errors)") }

                            let next = try await bench.run("fetch", "1", "--json", environment: bench.configured)
                            #expect(next.exitCode == 0, "\(what): \(next.errors)")
                            #expect(try bench.digests() == catalog.digests, "\(what)")
                            #expect(try bench.partialFiles == [], "\(what)")
                            let sent = server.record.audioBytesSent - sentBefore
                            #expect(sent <= catalog.totalBytes + allowance, "\(what): \(sent)")
                            let verified = try await bench.run("verify", environment: bench.configured)
                            #expect(verified.exitCode == 0, "\(what): \(verified.errors)")
                        }
                        let told = outcomes.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }
                        print("fault sweep: \(call) \(name), of \(count) calls: \(told.joined(separator: ", "))")
                    }
                }
            }

            @Test(arguments: [Call.rename, .fsync, .open, .mkdir])
            func `whichever call a run dies at that replaces a file, the old one and the new one are kept`(call: Call)
                async throws
            {
                let (old, new) = (ScriptedCatalog(episodes: 1, bytes: 3000), ScriptedCatalog(episodes: 1, bytes: 4000))
                let isReplaced = Watched(false)
                let audio = ServerScript.file(new.items[0].bytes, etag: "\"v2\"")
                let script = ServerScript { request in
                    guard isReplaced.value else { return old.script.answer(request) }
                    return request.path == new.items[0].path ? audio.answer(request) : new.script.answer(request)
                }
                try await withCatalog(script) { bench, _ in
                    let faults = try await Faults(bench)
                    #expect(try await bench.run("fetch", "1", environment: bench.configured).exitCode == 0)
                    let trash = bench.library.appending(path: ".booksync/trash")
                    func copy(_ from: String, to other: String) async throws {
                        #expect(try await ForeignProgram.run("rm", ["-rf", other], in: bench).exitCode == 0)
                        #expect(try await ForeignProgram.run("cp", ["-a", from, other], in: bench).exitCode == 0)
                    }
                    func kept() throws -> [String] {
                        guard FileManager.default.fileExists(atPath: trash.path) else { return [] }
                        return try bench.files(in: trash).values.map { sha256(try Data(contentsOf: $0)) }
                    }
                    try await copy("L", to: "before")
                    isReplaced.update { $0 = true }
                    _ = try await faults.fetch(call, failingAt: 0, with: 0)
                    let count = try faults.count()
                    let step = max(1, count / Tier.choose(full: 6, long: 60))
                    // Another run may have a few calls less.
                    for number in stride(from: 1, through: count * 9 / 10, by: step) {
                        try await copy("before", to: "L")
                        let killed = try await faults.fetch(call, failingAt: number, with: 0)
                        #expect(killed.exitCode == nil, "\(call) \(number)")
                        #expect(try (bench.digests() + kept()).contains(old.digests[0]), "\(call) \(number)")
                        let next = try await bench.run("fetch", "1", "--json", environment: bench.configured)
                        #expect(next.exitCode == 0, "\(call) \(number): \(next.errors)")
                        #expect(try bench.digests() == new.digests, "\(call) \(number)")
                        #expect(try kept() == old.digests, "\(call) \(number)")
                        let listed = try await bench.run("trash", "list", "--json", environment: bench.configured)
                        #expect(try JSONObject.list(listed.output).count == 1, "\(call) \(number)")
                    }
                }
            }
        }
    }
#endif
