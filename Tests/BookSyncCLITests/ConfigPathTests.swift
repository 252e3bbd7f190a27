import Foundation
import Support
import Testing

extension ProductTests {
    /// `config path`: which file the settings are read from.
    @Suite struct ConfigPaths {
        private func write(_ path: String, in bench: Workbench) throws -> String {
            let file = bench.folder.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("library: L\n".utf8).write(to: file)
            return file.path
        }

        @Test func `the file that counts is printed: the flag's, then the variable's, then the user's`() async throws {
            try await withWorkbench { bench in
                let own = try write(".config/booksync/config.yaml", in: bench)
                let elsewhere = try write("x/booksync/config.yaml", in: bench)
                let named = try write("named.yaml", in: bench)
                let flag = try write("flag.yaml", in: bench)
                let folder = ["XDG_CONFIG_HOME": bench.folder.appending(path: "x").path]
                // A relative path is told as an absolute one.
                let variable = folder.merging(["BOOKSYNC_CONFIG": "named.yaml"]) { $1 }
                for (arguments, environment, path) in [
                    ([], [:], own), ([], folder, elsewhere), ([], variable, named),
                    (["--config", "flag.yaml"], variable, flag),
                ] as [([String], [String: String], String)] {
                    let plain = try await bench.runBare(["config", "path"] + arguments, environment: environment)
                    #expect(plain.exitCode == 0 && plain.errors == "", "\(plain.errors)")
                    #expect(plain.output == path + "\n")
                    let json = try await bench.runBare(
                        ["config", "path", "--json"] + arguments, environment: environment)
                    #expect(try JSONObject(json.output)["path"] == path)
                }
            }
        }

        @Test
        func `without a file nothing is printed but where it would be, and one that was named and is absent is 78`()
            async throws
        {
            try await withWorkbench { bench in
                let none = try await bench.runBare(["config", "path"])
                #expect(none.exitCode == 0 && none.output == "")
                #expect(none.errors.contains(bench.folder.appending(path: ".config/booksync/config.yaml").path))
                let json = try await bench.runBare(["config", "path", "--json"])
                #expect(try JSONObject(json.output).isNull("path"))
                let absent = try await bench.runBare(["config", "path", "--config", "absent.yaml"])
                #expect(absent.exitCode == 78 && absent.output == "")
                #expect(absent.errors.contains(bench.folder.appending(path: "absent.yaml").path), "\(absent.errors)")
            }
        }
    }
}
