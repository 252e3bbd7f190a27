#if os(Linux)
    import Support
    import Testing

    extension ProductTests {
        @Suite struct LostOutput {
            @Test(arguments: ["list", "list --json", "show 40111", "plan 40111", "fetch 40111 --json"])
            func `results that cannot be written are no success`(command: String) async throws {
                try await withWorkbench { bench in
                    #expect(try await bench.run("fetch", "40111", "-q").exitCode == 0)
                    let result = try await bench.shell("\"$BOOKSYNC\" \(command) --library L >/dev/full")
                    #expect(result.exitCode == 74)
                    #expect(result.errors.contains("standard output: No space left on device"), "\(result.errors)")
                }
            }

            @Test func `a reader that has had enough is no failure`() async throws {
                try await withWorkbench { bench in
                    #expect(try await bench.run("fetch", "40111", "-q").exitCode == 0)
                    let result = try await bench.shell("(\"$BOOKSYNC\" list --library L; echo $? >&2) | true")
                    #expect(result.errors == "0\n")
                }
            }
        }
    }
#endif
