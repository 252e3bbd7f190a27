import Foundation
import Support
import Testing

extension ProductTests {
    /// What the command says in a Chinese locale, to people; what programs read stays as it is.
    @Suite struct ChineseOutput {
        private let chinese = ["LANG": "zh_CN.UTF-8"]

        @Test func `a run, its list and its check are told in Chinese`() async throws {
            let catalog = ScriptedCatalog(episodes: 3, bytes: 30_000)
            try await withCatalog(catalog.script) { bench, _ in
                let environment = bench.configured.merging(chinese) { $1 }
                let fetched = try await bench.run("fetch", "1/1-2", environment: environment)
                #expect(fetched.exitCode == 0 && fetched.errors.contains("已下载 "), "\(fetched.errors)")
                #expect(fetched.errors.contains("：下载 2（60.0 kB），用时"), "\(fetched.errors)")
                let listed = try await bench.run("list", "1", environment: environment)
                #expect(listed.output.contains("序号") && listed.output.contains("已下载"), "\(listed.output)")
                let planned = try await bench.run("plan", "1", environment: environment)
                #expect(planned.output.contains("待下载 1，保留 2"), "\(planned.output)")
                let verified = try await bench.run("verify", environment: environment)
                #expect(verified.output.hasPrefix("校验 2 个文件（60.0 kB）：2 个完好"), "\(verified.output)")
                let unknown = try await bench.run("fetch", "1/99", environment: environment)
                #expect(unknown.exitCode == 66 && unknown.errors.contains("1 没有第 99 集"), "\(unknown.errors)")
            }
        }

        @Test func `what failed in a run that spoke English is told in Chinese later`() async throws {
            var catalog = ScriptedCatalog(episodes: 2, bytes: 30_000)
            catalog.items[1].deeds = [.instead(.notFound)]
            try await withCatalog(catalog.script) { bench, _ in
                let english = try await bench.run("fetch", "1", environment: bench.configured)
                #expect(
                    english.exitCode == 75 && english.errors.contains("episode 2 '第2集': the server does not have"),
                    "\(english.errors)")
                let environment = bench.configured.merging(chinese) { $1 }
                for command in [["explain", "1/2"], ["runs"], ["queue"], ["show", "1/2"]] {
                    let told = try await bench.runBare(command + ["--library", "L"], environment: environment)
                    #expect(!told.output.contains(/[a-z]{3,} [a-z]{2,} [a-z]{2,}/), "\(command): \(told.output)")
                }
                for reference in ["1", "1/1", "1/2"] {
                    let shown = try await bench.run("show", reference, environment: environment)
                    let labels = shown.output.split(separator: "\n").map { $0.prefix { $0 != " " } }
                    let english = labels.filter { $0.allSatisfy(\.isASCII) }
                    #expect(Set(english).isSubset(of: ["SHA-256", "GUID"]) && !labels.isEmpty, "\(shown.output)")
                }
                let runs = try await bench.run("runs", environment: environment)
                #expect(runs.output.contains("第 2 集“第2集”：服务器上没有这个文件"), "\(runs.output)")
                let document = try await bench.run("runs", "--json", environment: environment)
                #expect(document.output.contains("episode 2 '第2集': the server does not have"), "\(document.output)")
            }
        }

        @Test func `a catalog that was tried several times is told of in Chinese alone`() async throws {
            try await withWorkbenchAndRefusingPort { bench, port in
                try bench.configure(ScriptedCatalog.configuration(port: port, more: "downloads: { retries: 1 }"))
                let told = try await bench.run("fetch", "1", environment: bench.configured.merging(chinese) { $1 })
                #expect(told.exitCode == 69 && told.errors.contains("服务器拒绝连接（已尝试 2 次）"), "\(told.errors)")
            }
        }

        @Test func `what the system and the database say is told in Chinese`() async throws {
            try await withWorkbench { bench in
                let unreadable = try await bench.runBare(["list", "--config", "none"], environment: chinese)
                #expect(unreadable.errors.contains("：没有这个文件或文件夹"), "\(unreadable.errors)")
                #expect(try await bench.run("fetch", "40111/1", environment: chinese).exitCode == 0)
                try Data(repeating: 1, count: 9000).write(to: bench.folder.appending(path: "L/.booksync/store.sqlite"))
                let damaged = try await bench.run("list", environment: chinese)
                #expect(damaged.errors.contains("（它不是数据库文件）"), "\(damaged.errors)")
            }
        }

        @Test func `what programs read is the same in every language`() async throws {
            try await withCatalog(ScriptedCatalog(episodes: 2, bytes: 30_000).script) { bench, _ in
                let environment = bench.configured
                #expect(try await bench.run("fetch", "1", environment: environment).exitCode == 0)
                for command in [
                    ["list", "1"], ["plan", "1"], ["doctor"], ["runs"], ["explain", "1/1"], ["fetch", "1/9"],
                ] {
                    let words = command + ["--json", "--library", "L"]
                    let english = try await bench.runBare(words, environment: environment)
                    let translated = try await bench.runBare(words, environment: environment.merging(chinese) { $1 })
                    #expect(english.exitCode == translated.exitCode)
                    #expect(Self.steady(english.output) == Self.steady(translated.output), "\(command)")
                }
            }
        }

        /// Without what differs from one call to the next.
        private static func steady(_ text: String) -> String {
            text.replacing(/[0-9]+(\.[0-9]+)?([eE]-?[0-9]+)?/, with: "0")
        }

        @Test func `the variable wins over the setting, which wins over the locale`() async throws {
            try await withWorkbench { bench in
                try bench.configure("language: zh")
                let question = ["subscriptions", "--library", "L", "--import", "none"]
                func isChinese(_ environment: [String: String]) async throws -> Bool {
                    let result = try await bench.runBare(
                        question, environment: bench.configured.merging(environment) { $1 })
                    return result.errors.contains("无法读取 none")
                }
                #expect(try await isChinese([:]))
                for arguments in [["--help"], ["fetch", "--help"], ["ftech"], ["list", "--state", "odd"]] {
                    let told = try await bench.runBare(arguments, environment: bench.configured)
                    let text = told.output + told.errors
                    #expect(text.contains("用法：") || text.contains("没有命令"), "\(arguments): \(text)")
                    let english = try await bench.runBare(
                        arguments, environment: bench.configured.merging(["BOOKSYNC_LANG": "en"]) { $1 })
                    let isEnglish = (english.output + english.errors).allSatisfy { $0.isASCII }
                    #expect(isEnglish, "\(arguments)")
                }
                #expect(try await isChinese(["LANG": "en_GB.UTF-8"]))
                #expect(try await !isChinese(["BOOKSYNC_LANG": "en"]))
                #expect(try await bench.runBare(["config", "check"], environment: bench.configured).exitCode == 0)
                let wrong = try await bench.runBare(["list"], environment: ["BOOKSYNC_LANG": "tlh"])
                #expect(wrong.exitCode == 78 && wrong.errors.contains("BOOKSYNC_LANG"), "\(wrong.errors)")
            }
        }
    }
}
