import Foundation
import Support
import Testing

extension ProductTests {
    /// A title that the catalog corrects: the file is renamed, and `plan` says so beforehand.
    @Suite struct RenamePlans {
        @Test func `plan --json names old and new path of a rename and changes nothing; fetch then does it`()
            async throws
        {
            let catalog = Watched(ScriptedCatalog(episodes: 3))
            let script = ServerScript { catalog.value.script.answer($0) }
            try await withCatalog(script) { bench, server in
                let environment = bench.configured
                func plan() async throws -> JSONObject {
                    let result = try await bench.run("plan", "1", "--json", environment: environment)
                    #expect(result.exitCode == 0, "\(result.errors)")
                    return try JSONObject(result.output)
                }
                _ = try await bench.run("fetch", "1", "-q", environment: environment)
                let before = try bench.files().keys.sorted()
                let sent = server.record.audioBytesSent
                #expect(try await plan().objects("actions").allSatisfy { !$0.keys.contains("from_path") })

                catalog.update { $0.items[1].name = "第2集 牛棚" }
                let corrected = try await plan()
                #expect(corrected.object("totals")?.number("rename") == 1)
                #expect(corrected.object("totals")?.number("keep") == 2)
                #expect(corrected.object("totals")?.number("fetch") == 0)
                let renames = corrected.objects("actions").filter { $0["action"] == "rename" }
                #expect(renames.map { $0.number("section") } == [2])
                let rename = try #require(renames.first)
                #expect(rename["from_path"] == before[1])
                let path = try #require(rename["path"])
                #expect(path.contains("第2集 牛棚") && path != before[1])
                #expect(rename["name"] == "第2集 牛棚")
                for action in corrected.objects("actions") where action["action"] != "rename" {
                    #expect(!action.keys.contains("from_path"))
                }
                #expect(try bench.files().keys.sorted() == before)

                let fetched = try await bench.run("fetch", "1", "--json", environment: environment)
                #expect(try fetched.summary().number("renamed") == 1)
                let planned = try #require(try fetched.events().first { $0["event"] == "plan" })
                #expect(planned.objects("actions").compactMap { $0["from_path"] } == [before[1]])
                #expect(Set(try bench.files().keys) == [before[0], path, before[2]])
                #expect(try bench.digests() == catalog.value.digests)
                #expect(server.record.audioBytesSent == sent)
                #expect(try await plan().objects("actions").compactMap { $0["from_path"] } == [])
            }
        }
    }
}
